; Goes over the occupied squares of a position, and finds what their residues amount to.

        .IDENT POINTS
        .INTERN POINTS,ALLST,MOVER,MOVED,PTSL,PTSW1,PTSW2,PTSCK
        .EXTERN NEWLST,ATTACK,BOARDA,STATUS,M3,T3,P1
        .INSERT sargon.asm

        .LOC .DATA.
BATTLE: .BLKW 1                 ; the routine that plays the battle for a square out
ALLST:  .BLKB 1                 ; the statuses of all squares together
MOVER:  .BLKB 1                 ; side that has just moved: 0 White, 80H Black
MOVED:  .BLKB 1                 ; the square moved to, 0 if it is not known
PTSL:   .BLKB 1                 ; highest loss of the side that has just moved
PTSW1:  .BLKB 1                 ; highest loss of the other side
PTSW2:  .BLKB 1                 ; second highest
PTSCK:  .BLKB 1                 ; bits B.DNGR and B.ORG: the piece that has just moved is in danger
ARTICL: .BLKB 2                 ; lost and won as in the article, in quarters of a point
ORGPTS: .BLKB 2                 ; lost and won as in the original, in halves
        .IFN .-PTSL-PTSLEN,[.ERROR "what POINTS finds has not PTSLEN bytes"]

        .LOC .PROG.
; POINTS - has the battle for each occupied square played out, a1 to h1 first, and finds what the
; side that has just moved stands to lose and to win.
;   The other side moves next and rescues its highest piece, so only the second counts; if the piece
;   that has just moved is itself in danger, the highest is forgotten and the second takes its
;   place.
;   Entry:    HL = XCHNG or a routine that calls it, returns its residue in E and may use all other
;             registers;
;             the position set up, its pins found; MOVER and MOVED
;   Exit:     PTSL to ORGPTS; ALLST = the statuses of all squares together
;   Errors:   none
;   Clobbers: AF, BC, DE, HL of both sets, AF', IX
;   Stack:    32 bytes with POSITION; else 14 and what the routine at HL takes
;   Cycles:   3000..400000
POINTS: SHLD BATTLE
        LXI H,0                 ; forgets the position before
        SHLD PTSL
        SHLD PTSW2              ; and PTSCK
        XRA A
        STA ALLST
        LXI H,BOARDA+A1
..RANK: MVI B,8
..FILE: MOV A,M
        ORA A                   ; empty square
        CNZ SQUARE              ; SQUARE preserves B and HL
        INR L
        DJNZ ..FILE
        INR L                   ; past the border on either side
        INR L
        MOV A,L
        CPI H8+3                ; one rank beyond the last
        JRNZ ..RANK
        JMP ACCNT               ; returns for POINTS

; SQUARE - evaluates the piece A on square HL; preserves B and HL.
SQUARE: PUSH H
        PUSH B                  ; B counts the files
        SHLD M3                 ; the page is that of the board
        STA P1
        ANI 7                   ; without the colour
        STA T3                  ; low byte only: the page is set up once
        CALL NEWLST             ; A is 0 then
        STA STATUS
        CALL ATTACK
        LHLD BATTLE             ; CALL has no register form: ..GO jumps there
        CALL ..GO
        LXI H,ALLST
        LDA STATUS
        ORA M                   ; a status once set stays
        MOV M,A
        CALL PRIZES             ; last: it needs the E that the battle left
        POP B
        POP H
        RET
..GO:   PCHL

; PRIZES - stores the residue E of square M3 if it is among the highest of its side.
PRIZES: MOV A,E                 ; E = residue
        ORA A
        RZ                      ; it loses nothing
        MOV C,A
        LDA P1
        LXI H,MOVER
        XRA M                   ; bit 7: the other colour?
        LXI H,PTSW1             ; LXI leaves the sign
        JM PRIZE                ; bit 7: the other side's
        DCX H                   ; PTSL
        LDA MOVED               ; 0 if unknown: no square has that number
        MOV B,A
        LDA M3
        CMP B                   ; is it the piece that has just moved?
        MOV A,C                 ; MOV leaves Z
        JRNZ HIGHER
        LXI D,PTSCK             ; the piece that has just moved
        LDAX D
        SET B.DNGR,A
        MOV B,A                 ; bits in B: A compares
        MOV A,C
        CMP M                   ; more than any before?
        MOV A,B
        JRC ..SET               ; a square before this one has lost more
        SET B.ORG,A
..SET:  STAX D
        MOV A,C                 ; falls into HIGHER
; HIGHER - stores A at HL if it is higher than the value there.
HIGHER: CMP M
        RC                      ; another has lost more
        MOV M,A
        RET

; PRIZE - puts C among the two highest of the other side; HL = PTSW1.
PRIZE:  MOV A,C
        MOV B,M                 ; the first prize so far
        CMP B                   ; more than the first prize?
        INX H                   ; PTSW2, which HIGHER and the next store need
        JRC HIGHER              ; no: perhaps more than the second
        MOV M,B                 ; the first becomes the second
        DCX H
        MOV M,A
        RET

; ACCNT - counts what was found as the article does, and as the original does.
ACCNT:  LDA PTSL
        ADD A                   ; points are whole: doubled, they are halves
        MOV B,A                 ; in halves
        ADD A                   ; and in quarters
        MOV L,A
        MVI C,1<B.DNGR
        CALL SECOND             ; the article: moved up as soon as it is in danger
        MOV E,A                 ; the second prize
        ADD A                   ; three quarters of the second prize
        ADD E
        MOV H,A
        SHLD ARTICL             ; L = lost, H = won
        MVI C,1<B.ORG
        CALL SECOND
        ADD A                   ; in halves
        CALL LESS1              ; the original counts one half less
        SRLR A                  ; half of it, rounded down
        MOV H,A
        MOV A,B                 ; the loss in halves, less one
        CALL LESS1
        MOV L,A
        SHLD ORGPTS             ; L = lost, H = won
        RET

; SECOND - A = the second prize, or 0 if the bit C of PTSCK has moved it up.
SECOND: LDA PTSCK
        ANA C                   ; was the piece in danger?
        LDA PTSW2
        RZ                      ; LDA leaves Z
        XRA A
        RET

; LESS1 - A = A less one, but not less than 0.
LESS1:  ORA A
        RZ                      ; never below zero
        DCR A
        RET
        .END
