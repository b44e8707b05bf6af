; An exchange evaluator as a user might write it from the calling contract alone: everything in
; memory, no second register set, and no NEXTAD.

        .IDENT PLAIN
        .INTERN XCHNG
        .INSERT names.asm

        .LOC .DATA.
HERE:   .BLKW 1                 ; the section of the side whose turn it is
THERE:  .BLKW 1                 ; the other's
STAKE:  .BLKB 1
TAKER:  .BLKB 1
GUARD:  .BLKB 1
BACK:   .BLKB 1                 ; 1 while the second side captures
LOST:   .BLKB 1

        .LOC .PROG.
XCHNG:  LXI H,WACT
        LXI D,BACT
        LDA P1
        ORA A
        JM ..SIDE               ; White attacks a Black piece
        XCHG
..SIDE: SHLD HERE
        SDED THERE
        LHLD T3
        MOV A,M
        STA STAKE
        XRA A
        STA LOST
        STA BACK
        CALL TURN
        JRZ ..DONE
        STA TAKER
..MOVE: CALL TURN
        STA GUARD
        JRZ ..TAKE
        LDA TAKER
        MOV B,A
        LDA STAKE
        CMP B
        JRNC ..TAKE
..HELP: LDA TAKER
        MOV B,A
        LDA GUARD
        CMP B
        JRC ..DONE
        CALL TURN
        JRZ ..DONE
        STA TAKER
        CALL TURN
        STA GUARD
        JRNZ ..HELP
..TAKE: LDA STAKE
        MOV B,A
        LDA BACK
        ORA A
        LDA LOST
        JRZ ..WIN
        SUB B
        SUB B
..WIN:  ADD B
        STA LOST
        LDA GUARD
        ORA A
        JRZ ..DONE
        MOV B,A
        LDA TAKER
        STA STAKE
        MOV A,B
        STA TAKER
        LXI H,BACK
        MOV A,M
        XRI 1
        MOV M,A
        JMPR ..MOVE
..DONE: LDA LOST
        MOV E,A
        RET

; TURN - A = the next piece of the side whose turn it is, Z set for none; then it is the other's
; turn.
TURN:   LHLD HERE
        LDED THERE
        SDED HERE
        SHLD THERE
        MOV A,M
        ORA A
        RZ
        DCR M
        MVI B,SECTN-1
        XRA A
..NEXT: INX H
        CMP M
        JRNZ ..GOT
        DJNZ ..NEXT
        RET
..GOT:  RRD
        JRZ ..GOT
        RET
        .END
