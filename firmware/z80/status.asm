; The request STATUS: what an evaluator may have damaged (docs/PROTOCOL.md). A host sends it between
; cases, and compares the check with that of the program it has loaded.

        .IDENT STATS
        .INTERN DOSTUS,STINI,OFFS,IMGLEN
        .EXTERN APP,CRC16,LOSSES,FULLS,STKEND,NEWRPL,PUTFRM,P.LEN,P.DATA
        .INSERT wire.asm

FILLED  == 192          ; bytes from STKEND up; the 64 below STACK are for STINI and interrupts
UNUSED  == 5AH          ; what no routine of ours pushes eight times in a row

        .LOC .DATA.
OFFS:   .BLKW 1         ; how often CHKINT found interrupts off, or another register I

        .LOC .PROG.
; STINI - clears the counts and fills the stack's unused part.
;   Entry:    nothing but the return address is on the stack
;   Exit:     done
;   Errors:   none
;   Clobbers: F, BC, DE, HL
;   Stack:    0 bytes
;   Cycles:   4114
STINI:  LXI H,0
        SHLD LOSSES
        SHLD FULLS
        SHLD OFFS
        LXI H,STKEND
        LXI D,STKEND+1
        LXI B,FILLED-1
        MVI M,UNUSED
        LDIR
        RET

; DOSTUS - answers STATUS.
;   Entry:    nothing
;   Exit:     the reply is on its way
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    18 bytes
;   Cycles:   3000..900000
DOSTUS: LBCD IMGLEN
        LXI H,APP               ; the program's first byte
        CALL CRC16
        CALL NEWRPL
        MOV M,E
        INX H
        MOV M,D
        DI                      ; both counts at the same time
        LHLD LOSSES
        SHLD P.DATA+2
        LHLD FULLS
        EI
        SHLD P.DATA+4
        LHLD OFFS
        SHLD P.DATA+6
        LXI H,STKEND-1
        LXI B,0FFFFH            ; counts the bytes that are as STINI left them
..NEXT: INX B
        INX H
        MOV A,M
        CPI UNUSED
        JRZ ..NEXT              ; what is in use above them ends it
        SBCD P.DATA+8
        MVI A,10
        STA P.LEN
        JMP PUTFRM

IMGLEN: .WORD 1                 ; the builder puts the number of the program's bytes here
        .END
