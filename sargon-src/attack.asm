; Who attacks a square, and who defends the piece on it.

        .IDENT ATTACK
        .INTERN ATTACK
        .EXTERN ATKSAV,PNCK,TBASE,M3,NPINS
        .INSERT sargon.asm

; While a ray is walked:
;   HL   the square reached         B   the type that slides along this ray: BISHOP or ROOK
;   C    the step to the next       E   bit 7 colour of the ray's pieces, bit 0 a queen was met
;   HL'  next of the steps       B'  rays left of this kind

; ATTACK - files every attacker and defender of a square in the attackers array.
;   Entry:    M3 = the square's address; the 14 bytes of ATKLST are 0; the pin list is complete
;   Exit:     ATKLST filled, NPINS and the pin list unchanged
;   Errors:   B.OVER of STATUS set when a piece found no room
;   Clobbers: AF, BC, DE, HL, BC', DE', HL'
;   Stack:    12 bytes
;   Cycles:   2495..8319 over the corpus; as in 1978 2495..9087
ATTACK: EXX
        LXI H,TBASE+DIRECT
        MVI B,4
        EXX
        MVI B,BISHOP
        CALL RAYS
        EXX
        MVI B,4
        EXX
        MVI B,ROOK
        CALL RAYS
        EXX
        MVI B,8
        EXX

; The eight squares a knight's leap away.
LEAPS:  CALL ADJCNT
        JRZ ..NEXT
        CPI BORDER
        JRZ ..NEXT
        MOV E,A
        ANI 7
        CPI KNIGHT
        JRNZ ..NEXT
        CALL TAKE               ; bit 0 of E is clear, as in KNIGHT
..NEXT: EXX
        DCR B
        EXX
        JRNZ LEAPS
        RET

; RAYS - walks the rays of one kind, B' of them from DIRECT entry HL' on.
RAYS:   CALL ADJCNT
        JRZ SLIDE
        CPI BORDER
        JRZ ENDRAY
        MOV E,A
        RES 0,E
        ANI 7
        CMP B
        JRZ FOUND               ; a bishop on a diagonal, a rook on a straight line
        CPI QUEEN
        JRZ FNDQUN
        JRNC FNDKNG
        CPI PAWN
        JRNZ ENDRAY
        MOV A,B
        CPI BISHOP
        JRNZ ENDRAY
        MOV A,E                 ; White's pawns attack upwards, so stand a negative step away;
        XRA C                   ; Black's a positive one
        JP ENDRAY
        MVI A,PAWN
        JMPR FOUND
FNDKNG: CALL TAKE               ; nothing is seen through a king
        JMPR ENDRAY

; Beyond the first square of a ray only pieces that slide count.
SLIDE:  MOV A,L
        ADD C
        MOV L,A
        MOV A,M
        ORA A
        JRZ SLIDE
        CPI BORDER
        JRZ ENDRAY
        MOV E,A
        RES 0,E
        JMPR SLIDER

; Behind a piece that attacks, more of its colour may attack through it.
BEHIND: MOV A,L
        ADD C
        MOV L,A
        MOV A,M
        ORA A
        JRZ BEHIND
        CPI BORDER
        JRZ ENDRAY
        XRA E
        JM ENDRAY               ; the other colour ends the ray
        XRA E
SLIDER: ANI 7
        CMP B
        JRZ FOUND
        CPI QUEEN
        JRNZ ENDRAY
FNDQUN: SET 0,E
FOUND:  CALL TAKE
        JMPR BEHIND
ENDRAY: EXX
        DCR B
        EXX
        JRNZ RAYS
        RET

; ADJCNT - steps from the square under examination in the next direction: C the step, HL the
; square reached, A what stands there, Z set when nothing does.
ADJCNT: EXX
        MOV A,M
        INX H
        EXX
        MOV C,A
        LHLD M3
        ADD L
        MOV L,A
        MOV A,M
        ORA A
        RET

; TAKE - files the piece of type A on square HL unless a pin bars it.
TAKE:   MOV D,A
        LDA NPINS
        ORA A
        JRZ ..FREE
        CALL PNCK
        RC
..FREE: MOV A,D
        JMP ATKSAV
        .END
