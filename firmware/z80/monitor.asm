; The boot monitor: takes programs into RAM, proves that they are there, and starts them.

        .IDENT MONITR
        .INTERN MONITR,IDENT,IDLEN,BUILD,NAME,PUTDE
        .EXTERN UINIT,WINDOW,TABLE,BANNER,DOIDNT,DOHOME
        .EXTERN PUTFRM,PUTERR,NEWRPL,UDRAIN,CRC16,C16INI
        .EXTERN R.LEN,R.DATA,P.LEN,STACK,LOADLO,LOADHI
        .INSERT wire.asm
        .IFN INCIRC,[
        .EXTERN FLINIT,CRCINI,AUTO
        .EXTERN DOCHIP,DOERAS,DOPROG,DOFCRC,DOVRFY,DOFRED,DOBOOT
        ]

; MONITR - sets the board up and answers requests for ever.
;   Entry:    reset
;   Exit:     only by RUN and RESET
;   Errors:   see the requests
;   Clobbers: everything
;   Stack:    64 bytes
;   Cycles:   does not end
MONITR: .IFN BANKED,[
        XRA A
        OUT BANKS               ; the first two windows show flash, of which this is the first page
        INR A
        OUT BANKS+1
        MVI A,RAMPGE
        OUT BANKS+2             ; the others RAM
        INR A
        OUT BANKS+3
        MVI A,1
        OUT BANKS+4             ; from here on the registers count
        ]
        LXI SP,STACK
        CALL C16INI
        .IFN INCIRC,[
        CALL CRCINI
        CALL FLINIT
        ]
        CALL UINIT
        IM1
        EI
        CALL BANNER
        .IFN INCIRC,[
        LDAI
        ORA A
        CZ AUTO                 ; after a reset by hardware
        ]
        LXI X,SERVED
        JMP TABLE

SERVED: .BYTE T.IDNT,0,0
        .WORD DOIDNT
        .BYTE T.RSET,0,0
        .WORD DOHOME
        .BYTE T.WRIT,3,2+MAXBLK
        .WORD DOWRIT
        .BYTE T.CRC,4,4
        .WORD DOCRC
        .BYTE T.READ,3,3
        .WORD DOREAD
        .BYTE T.RUN,2,2
        .WORD DORUN
        .IFN INCIRC,[
        .BYTE T.CHIP,0,0
        .WORD DOCHIP
        .BYTE T.ERAS,2,2
        .WORD DOERAS
        .BYTE T.PROG,4,3+MAXBLK
        .WORD DOPROG
        .BYTE T.FCRC,5,5
        .WORD DOFCRC
        .BYTE T.VRFY,9,9
        .WORD DOVRFY
        .BYTE T.FRED,4,4
        .WORD DOFRED
        .BYTE T.BOOT,4,4
        .WORD DOBOOT
        ]
        .BYTE 0

; DOWRIT - answers WRITE: stores bytes and reads each back.
DOWRIT: LDED R.DATA             ; address
        LDA R.LEN
        SUI 2
        MOV C,A
        MVI B,0
        LXI H,LOADLO
        DCX H
        ORA A
        DSBC D
        JRNC ..ADDR             ; below the first address that may be written
        LXI H,LOADHI
        ORA A
        DSBC D                  ; bytes that fit, less 1
        JRC ..ADDR
        ORA A
        DSBC B
        JRNC ..COPY
        INX H                   ; HL + 1 = 0: they just fit
        MOV A,H
        ORA L
        JRZ ..COPY
        LDED LASTAD
        INX D                   ; the first address too high
..ADDR: MVI C,E.ADDR
        JMP PUTERR
..COPY: MOV B,C
        LXI H,R.DATA+2
..BYTE: MOV A,M
        STAX D
        LDAX D
        CMP M
        JRNZ ..BACK
        INX H
        INX D
        DJNZ ..BYTE
        PUSH B
        CALL NEWRPL
        POP B
        LDED R.DATA
        CALL PUTDE
        MOV M,C
        MVI A,3
        STA P.LEN
        JMP PUTFRM
..BACK: MVI C,E.READ
        JMP PUTERR

LASTAD: .WORD LOADHI

; DOCRC - answers CRC over memory.
DOCRC:  LBCD R.DATA+2
        MOV A,B
        ORA C
        JRZ ..NONE
        LHLD R.DATA
        PUSH B
        CALL CRC16
        POP B
        PUSH D
        LHLD R.DATA
        CALL SUMS
        CALL NEWRPL
        POP B
        MOV M,C
        INX H
        MOV M,B
        INX H
        CALL PUTDE
        MVI A,4
        STA P.LEN
        JMP PUTFRM
..NONE: MVI C,E.ARG
        LXI D,2                 ; the length is at offset 2
        JMP PUTERR

; SUMS - E = the sum of BC bytes at HL, D = the sum of all sums on the way. What a CRC misses these need not.
SUMS:   LXI D,0
..NEXT: MOV A,M
        ADD E
        MOV E,A
        ADD D
        MOV D,A
        INX H
        DCX B
        MOV A,B
        ORA C
        JRNZ ..NEXT
        RET

; DOREAD - answers READ.
DOREAD: LDA R.DATA+2
        ORA A
        JRZ ..BAD
        CPI MAXBLK+1
        JRNC ..BAD
        MOV C,A
        MVI B,0
        ADI 2
        PUSH PSW
        CALL NEWRPL
        POP PSW
        STA P.LEN
        LDED R.DATA
        CALL PUTDE
        XCHG
        LDIR
        JMP PUTFRM
..BAD:  MVI C,E.ARG
        LXI D,2
        JMP PUTERR

; DORUN - answers RUN, then goes there.
DORUN:  CALL NEWRPL
        LDED R.DATA
        CALL PUTDE
        MVI A,2
        STA P.LEN
        CALL PUTFRM
        CALL UDRAIN
        DI
        LHLD R.DATA
        PCHL

; PUTDE - stores DE at HL, low byte first; HL is just past it then.
PUTDE:  MOV M,E
        INX H
        MOV M,D
        INX H
        RET

IDENT:  .BYTE ROLE.M,PROTO
BUILD:  .BYTE 0,0,0,0           ; the builder puts the CRC-32 of the image here
        .WORD WINDOW,LOADLO,LOADHI
        .BYTE C.RAM+INCIRC*C.FLSH
NAME:   .ASCII /Sargon board monitor 1/
        .BYTE 0                 ; ends the name for BANNER
IDLEN   == .-IDENT-1
        .END
