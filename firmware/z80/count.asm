; The request COUNT: counts through arguments, calls a routine with each, and returns one CRC-32 of
; all results (docs/PROTOCOL.md).

        .IDENT COUNT
        .INTERN DOCNT
        .EXTERN INVOKE,MARK,JUDGE,GIVEN,RIN,ROUT,ENTRY,CRC32,CHECK,FLIP
        .EXTERN PUTFRM,PUTERR,NEWRPL,R.LEN,R.DATA,P.LEN,P.DATA
        .INSERT wire.asm

; The request.
N.ADDR  == 0                    ; routine
N.MASK  == 2                    ; registers that are given
N.CALL  == 4                    ; calls, 0 for 65,536
N.FROM  == 6                    ; value of the first call, four bytes
N.NUM   == 10                   ; bytes that count
N.PLAC  == 11                   ; the registers that they are, the lowest byte first
N.FLAG  == 15                   ; mask of the flags
N.CRC   == 16                   ; CRC-32 so far
N.RES   == 20                   ; bytes of results
N.REGS  == 21                   ; the registers that they are; then those given

        .LOC .DATA.
LEFT:   .BLKW 1                 ; calls to come
FILL:   .BLKW 1                 ; where the next results go, in P.DATA

        .LOC .PROG.
; DOCNT - answers COUNT.
;   Entry:    R.LEN and R.DATA = the request
;   Exit:     the reply is on its way
;   Errors:   an argument that means nothing is answered by the error reply
;   Clobbers: everything
;   Stack:    32 bytes
;   Cycles:   15000, and each call's
DOCNT:  LHLD R.DATA+N.ADDR
        SHLD ENTRY
        LXI H,R.DATA+N.RES
        MVI B,2*PAIRS           ; as many at most
        LXI D,ROUT
        CALL PLACES
        LXI D,N.RES
        JRC ..BAD
        XCHG                    ; DE = the registers given
        LBCD R.DATA+N.MASK
        MOV A,B
        ANI 0FCH                ; bits that mean nothing
        LXI H,N.MASK+1
        JRNZ ..HL
        PUSH D
        CALL GIVEN
        LXI H,R.DATA            ; the request must end here
        LDA R.LEN
        MOV C,A
        MVI B,0
        DAD B
        ORA A
        DSBC D
        POP H
        MVI M,0                 ; ends the list of results
        LXI D,N.MASK
        JRNZ ..BAD
        LXI H,R.DATA+N.NUM
        MVI B,CNTMAX
        LXI D,RIN
        CALL PLACES
        LXI D,N.NUM
        JRC ..BAD
        CALL FIRST
        LXI H,R.DATA+N.CRC
        LXI D,CHECK
        CALL FLIP               ; CHECK continues from the request's CRC
        CALL MARK
        CALL COUNT
        CALL JUDGE
        PUSH B
        CALL NEWRPL
        LXI D,P.DATA
        LXI H,CHECK
        CALL FLIP
        POP B
        MOV A,C                 ; what has happened
        STAX D
        INX D
        MOV A,B                 ; the deepest stack
        STAX D
        MVI A,6
        STA P.LEN
        JMP PUTFRM
..HL:   XCHG
..BAD:  MVI C,E.ARG
        JMP PUTERR

; PLACES - replaces the numbers of bytes of registers in a list by the low bytes of their addresses:
; HL = their number, which the list follows; B = how many there may be; DE = the registers. HL is
; after the list. Carry set if there are none, too many, or one that does not exist.
PLACES: MOV A,M
        DCR A
        CMP B
        CMC
        RC
        INR A
        MOV B,A
..NEXT: INX H
        MOV A,M
        CPI 2*PAIRS
        CMC
        RC
        ADD E
        MOV M,A
        DJNZ ..NEXT
        INX H
        ORA A
        RET

; FIRST - puts the value of the first call into the registers that count.
FIRST:  LXI D,R.DATA+N.FROM
        LXI B,R.DATA+N.PLAC
        LXI H,RIN
        LDA R.DATA+N.NUM
..NEXT: PUSH PSW
        LDAX B
        MOV L,A                 ; only low bytes differ
        LDAX D
        MOV M,A
        INX B
        INX D
        POP PSW
        DCR A
        JRNZ ..NEXT
        RET

; COUNT - makes the calls. A turn takes some 1040 T-states and the routine's, and 181 for each byte
; of its results, CRC32 included.
COUNT:  LHLD R.DATA+N.CALL
        SHLD LEFT
        LXI H,P.DATA
        SHLD FILL
..CALL: CALL INVOKE
        LXI H,ROUT
        LDA R.DATA+N.FLAG
        ANA M
        MOV M,A                 ; F is the first byte
        LXI D,R.DATA+N.REGS
        LBCD FILL
..RES:  LDAX D
        ORA A                   ; no low byte of ROUT is 0
        JRZ ..STEP
        MOV L,A
        MOV A,M
        STAX B
        INX B
        INX D
        JMPR ..RES
..STEP: SBCD FILL
        LXI H,P.DATA+MAXPAY-2*PAIRS
        ORA A
        DSBC B                  ; carry: perhaps no room for the next
        CC FLUSH
        LXI D,R.DATA+N.PLAC
        LDA R.DATA+N.NUM
        MOV B,A
        LXI H,RIN
..BYTE: LDAX D
        MOV L,A
        INR M
        JRNZ ..LEFT
        INX D                   ; a carry
        DJNZ ..BYTE
..LEFT: LHLD LEFT
        DCX H
        SHLD LEFT
        MOV A,H
        ORA L
        JNZ ..CALL              ; falls into FLUSH

; FLUSH - takes the results in P.DATA into the CRC.
FLUSH:  LHLD FILL
        LXI D,P.DATA
        SDED FILL
        ORA A
        DSBC D
        RZ                      ; none
        MOV B,L
        XCHG
        JMP CRC32
        .END
