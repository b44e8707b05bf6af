; What the program makes of the residues of a position.

        .IDENT POINTS
        .INTERN POINTS,MOVER,MOVED,PTSL,PTSW1,PTSW2,PTSCK
        .EXTERN NEWLST,ATTACK,XCHNG,STATUS,M3,T3,P1
        .INSERT sargon.asm

        .LOC .DATA.
MOVER:  .BLKB 1                 ; who has just moved: 0 White, 80H Black
MOVED:  .BLKB 1                 ; the square moved to, 0 when not known
PTSL:   .BLKB 1                 ; highest loss of the side that has just moved
PTSW1:  .BLKB 1                 ; highest loss of the other side
PTSW2:  .BLKB 1                 ; second highest
PTSCK:  .BLKB 1                 ; bits B.DNGR and B.BOOK: the piece that has just moved is in danger
ARTICL: .BLKB 2                 ; lost and won as in the article, in quarters of a point
BOOK:   .BLKB 2                 ; lost and won as in the program of 1978, in halves
        .IFN .-PTSL-PTSLEN,[.ERROR "what POINTS finds has not PTSLEN bytes"]

        .LOC .PROG.
; POINTS - finds what the side that has just moved stands to lose and to win.
;   The other side moves next and rescues its highest piece, so only the second counts; when the piece that
;   has just moved is itself in danger, the highest is forgotten and the second takes its place.
;   Entry:    the position set up, its pins found; MOVER and MOVED
;   Exit:     PTSL to BOOK; STATUS = the statuses of all squares together
;   Errors:   none
;   Clobbers: AF, BC, DE, HL of both sets, AF', IX
;   Stack:    16 bytes
;   Cycles:   7818..401704 over the corpus; as in 1978 7818..469424
POINTS: LXI H,0
        SHLD PTSL
        SHLD PTSW2              ; and PTSCK
        XRA A
        STA STATUS
        MVI A,A1
..NEXT: STA M3
        LHLD M3
        MOV A,M
        INR A
        JRZ ..STEP              ; the border
        DCR A
        CNZ BATTLE
..STEP: LDA M3
        INR A
        CPI H8+1
        JRNZ ..NEXT
        JMPR ACCNT

; BATTLE - plays out the battle for the piece A on square M3 and keeps its residue if it is among the
; highest of its side.
BATTLE: STA P1
        ANI 7
        STA T3
        CALL NEWLST
        CALL ATTACK
        CALL XCHNG
        MOV A,E
        ORA A
        RZ
        MOV C,A
        LDA P1
        LXI H,MOVER
        XRA M
        LXI H,PTSW1
        JM PRIZE
        DCX H                   ; PTSL
        LDA MOVED
        MOV B,A
        LDA M3
        CMP B
        MOV A,C
        JRNZ HIGHER
        LXI D,PTSCK
        LDAX D
        SET B.DNGR,A
        MOV B,A
        MOV A,C
        CMP M
        MOV A,B
        JRC ..SET               ; a square before this one has lost more
        SET B.BOOK,A
..SET:  STAX D
        MOV A,C
; HIGHER - keeps A at HL if it is higher than what is there.
HIGHER: CMP M
        RC
        MOV M,A
        RET

; PRIZE - puts C among the two highest of the other side; HL = PTSW1.
PRIZE:  MOV A,C
        MOV B,M
        CMP B
        INX H
        JRC HIGHER
        MOV M,B
        DCX H
        MOV M,A
        RET

; ACCNT - counts what was found as the article does, and as the program of 1978 does.
ACCNT:  LDA PTSL
        ADD A
        MOV B,A                 ; in halves
        ADD A
        MOV L,A
        MVI C,1<B.DNGR
        CALL SECOND
        MOV E,A
        ADD A
        ADD E
        MOV H,A
        SHLD ARTICL
        MVI C,1<B.BOOK
        CALL SECOND
        ADD A
        CALL LESS1
        SRLR A
        MOV H,A
        MOV A,B
        CALL LESS1
        MOV L,A
        SHLD BOOK
        RET

; SECOND - A = the second prize, or 0 when the bit C of PTSCK has moved it up.
SECOND: LDA PTSCK
        ANA C
        LDA PTSW2
        RZ
        XRA A
        RET

; LESS1 - A = A less one, but not less than 0.
LESS1:  ORA A
        RZ
        DCR A
        RET
        .END
