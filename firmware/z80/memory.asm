; The requests WRITE, CRC and READ, inserted into monitor and caller.

; DOWRIT - answers WRITE: stores bytes and reads each back.
;   Entry:    R.LEN and R.DATA = the request
;   Exit:     the reply is on its way
;   Errors:   an address outside the range, or one that does not store its byte, is answered by the
;             error reply
;   Clobbers: AF, BC, DE, HL
;   Stack:    18 bytes
;   Cycles:   8000..20000
DOWRIT: LDED R.DATA             ; address
        LDA R.LEN
        SUI 2                   ; without the address
        MOV C,A                 ; bytes of data
        MVI B,0
        LXI H,LOADLO            ; the first address that may be written
        DCX H                   ; LOADLO - 1 - DE borrows unless DE is below
        ORA A
        DSBC D                  ; how far from the first address
        JRNC ..ADDR             ; below the first address that may be written
        LXI H,LOADHI
        ORA A
        DSBC D                  ; bytes that fit, less 1
        JRC ..ADDR              ; above the last one
        ORA A
        DSBC B                  ; and with all its bytes
        JRNC ..COPY
        INX H                   ; HL + 1 = 0: they just fit
        MOV A,H
        ORA L
        JRZ ..COPY
        LDED LASTAD
        INX D                   ; the first address too high
..ADDR: MVI C,E.ADDR
        JMP PUTERR
..COPY: MOV B,C                 ; the table allows 1 to 236
        LXI H,R.DATA+2          ; after the address
..BYTE: MOV A,M
        STAX D
        LDAX D                  ; what is there now?
        CMP M                   ; equal to what was sent?
        JRNZ ..BACK             ; no RAM, or broken
        INX H
        INX D
        DJNZ ..BYTE
        PUSH B                  ; C = the count
        CALL NEWRPL
        POP B
        LDED R.DATA
        CALL PUTDE
        MOV M,C
        MVI A,3
        STA P.LEN
        JMP PUTFRM
..BACK: MVI C,E.READ            ; DE = the address
        JMP PUTERR

LASTAD: .WORD LOADHI

; DOCRC - answers CRC over memory.
;   Entry:    R.DATA = the request
;   Exit:     the reply is on its way
;   Errors:   a length of 0 is answered by the error reply
;   Clobbers: AF, BC, DE, HL
;   Stack:    18 bytes
;   Cycles:   8000..8000000
DOCRC:  LBCD R.DATA+2
        MOV A,B                 ; no bytes
        ORA C
        JRZ ..NONE
        LHLD R.DATA             ; the first byte
        PUSH B                  ; CRC16 counts it down
        CALL CRC16
        POP B
        PUSH D                  ; the CRC, while the sums are made
        LHLD R.DATA
        CALL SUMS               ; a second check, by addition
        CALL NEWRPL
        POP B                   ; the CRC
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

; SUMS - adds bytes up, and the sums on the way. They may show what a CRC misses.
;   Entry:    HL = first byte; BC = count, not 0
;   Exit:     E = sum of the bytes, D = sum of the sums; HL = after the last; BC = 0
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   10 and 55 a byte
SUMS:   LXI D,0
..NEXT: MOV A,M
        ADD E
        MOV E,A                 ; sum of the bytes
        ADD D
        MOV D,A                 ; sum of the sums
        INX H
        DCX B
        MOV A,B
        ORA C
        JRNZ ..NEXT
        RET

; DOREAD - answers READ.
;   Entry:    R.DATA = the request
;   Exit:     the reply is on its way
;   Errors:   a count that no reply has room for is answered by the error reply
;   Clobbers: AF, BC, DE, HL
;   Stack:    18 bytes
;   Cycles:   8000..130000
DOREAD: LDA R.DATA+2
        ORA A                   ; no bytes
        JRZ ..BAD
        CPI MAXBLK+1            ; more than a frame has room for
        JRNC ..BAD
        MOV C,A
        MVI B,0
        ADI 2                   ; and the address
        PUSH PSW
        CALL NEWRPL
        POP PSW
        STA P.LEN               ; after NEWRPL, which sets it to 0
        LDED R.DATA
        CALL PUTDE
        XCHG                    ; HL = where to read, DE = the reply
        LDIR                    ; straight into the reply
        JMP PUTFRM
..BAD:  MVI C,E.ARG
        LXI D,2
        JMP PUTERR
