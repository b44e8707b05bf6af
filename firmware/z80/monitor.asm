; The boot monitor: takes programs into RAM, proves that they are there, and starts them.

        .IDENT MONITR
        .INTERN MONITR,IDENT,IDLEN,BUILD,NAME,PUTDE
        .EXTERN UINIT,WINDOW,TABLE,BANNER,DOIDNT,DOHOME
        .EXTERN PUTFRM,PUTERR,NEWRPL,UDRAIN,CRC16,C16INI
        .EXTERN R.LEN,R.DATA,P.LEN,STACK,LOADLO,LOADHI
        .INSERT wire.asm
        .IFN Z180,[
        .INSERT z180.asm
        ]
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
MONITR: .IFN Z180,[
        SETCHP 3FH,0C0H         ; ICR, where it is after a reset: C0H to FFH from here on
        SETCHP CCR,80H          ; the clock is the crystal's
        SETCHP DCNTL,30H        ; no memory waits
        SETCHP RCR,0            ; no refresh
        SETCHP CBR,80H          ; RAM, from 80000H on the bus, shows at 8000H
        SETCHP BBR,0            ; ROM below
        SETCHP CBAR,80H
        SETCHP CNTLB0,0         ; 115,200 baud: the clock divided by 160
        XRA A
        OUTCHP IL               ; 000EH leads to the driver
        STAI
        ]
        .IFN BANKED,[
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
        CALL C16INI             ; the frames need the table
        .IFN INCIRC,[
        CALL CRCINI
        CALL FLINIT
        ]
        CALL UINIT
        IM1                     ; 0038H leads to the driver
        EI
        CALL BANNER
        .IFN INCIRC,[
        LDAI
        ORA A                   ; 0 after a reset by hardware
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

        .INSERT memory.asm

; DORUN - answers RUN, then goes there. A return from there restarts the monitor.
;   Entry:    R.DATA = the request
;   Exit:     never
;   Errors:   none
;   Clobbers: everything
;   Stack:    20 bytes
;   Cycles:   170000
DORUN:  CALL NEWRPL
        LDED R.DATA
        CALL PUTDE              ; the address, confirmed
        MVI A,2
        STA P.LEN
        CALL PUTFRM
        CALL UDRAIN             ; the reply must have left
        DI                      ; the program installs its own interrupts
        LXI H,0
        PUSH H
        LHLD R.DATA
        PCHL

; PUTDE - stores a word, low byte first.
;   Entry:    HL = where, DE = the word
;   Exit:     HL = after it
;   Errors:   none
;   Clobbers: nothing else
;   Stack:    0 bytes
;   Cycles:   36
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
