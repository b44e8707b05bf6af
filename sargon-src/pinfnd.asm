; Finds the pinned pieces of both sides.

        .IDENT PINFND
        .INTERN PINFND
        .EXTERN ATTACK,NEWLST,TBASE,ATKLST,M3,NPINS,POSK
        .INSERT sargon.asm

; While a ray is walked outwards from a royal piece:
;   HL   the square reached         B   the type that pins along this ray: BISHOP or ROOK
;   C    the step to the next       E   bit 7 colour of the royal piece
;   D    the candidate's square     IY  the royal piece's entry in POSK, POSQ
;   HL'  next of the steps       B'  rays left of this kind

; PINFND - lists the pieces that are pinned against a king or a queen.
;   Entry:    the board and the high byte of M3 set up; POSK, POSQ = squares of White's and Black's king and queen, BORDER behind
;   Exit:     NPINS pins in PLISTA (squares) and PLISTD (steps outwards); M3 changed
;   Errors:   none: 32 pins are the most there can be, and the list has room for them
;   Clobbers: AF, BC, DE, HL, BC', DE', HL', IY, ATKLST, STATUS
;   Stack:    30 bytes
;   Cycles:   336..12270 over the corpus; as in 1978 336..12354
PINFND: XRA A
        STA NPINS
        LXI Y,POSK
ROYAL:  MOV A,0(Y)
        CPI BORDER
        RZ
        ORA A
        CNZ PINS
        INX Y
        JMPR ROYAL

; PINS - lists the pins against the royal piece on square A.
PINS:   STA M3
        LHLD M3
        MOV E,M
        EXX
        LXI H,TBASE+DIRECT
        MVI B,4
        EXX
        MVI B,BISHOP
        CALL RAYS
        EXX
        MVI B,4
        EXX
        MVI B,ROOK

; RAYS - walks B' rays from DIRECT entry HL' on.
RAYS:   EXX
        MOV A,M
        INX H
        EXX
        MOV C,A
        LHLD M3
..OUT:  MOV A,L
        ADD C
        MOV L,A
        MOV A,M
        ORA A
        JRZ ..OUT
        CPI BORDER
        JRZ ENDRAY
        XRA E
        JM ENDRAY               ; an enemy stands before any friend
        MOV D,L
..PAST: MOV A,L
        ADD C
        MOV L,A
        MOV A,M
        ORA A
        JRZ ..PAST
        CPI BORDER
        JRZ ENDRAY
        XRA E
        JP ENDRAY               ; a second friend
        XRA E
        ANI 7
        CMP B
        JRZ ..PIN
        CPI QUEEN
        JRNZ ENDRAY
        LHLD M3
        MOV A,M
        ANI 7
        CPI QUEEN
        JRNZ ..PIN
        CALL HELD
        JP ENDRAY
..PIN:  LXI H,NPINS
        MOV A,M
        INR M
        ADI O.PINA
        MOV L,A
        MOV M,D
        ADI O.PIND-O.PINA
        MOV L,A
        MOV M,C
ENDRAY: EXX
        DCR B
        EXX
        JRNZ RAYS
        RET

; HELD - whether a queen that a queen attacks is held: sign clear when she has more defenders than
; attackers, counted with the pins found so far. It takes into account that another ATTACK may change IY.
HELD:   PUSH B
        PUSH D
        PUSH Y
        EXX
        PUSH B
        PUSH H
        EXX
        CALL NEWLST
        CALL ATTACK
        EXX
        POP H
        POP B
        EXX
        POP Y
        POP D
        POP B
        LXI H,ATKLST
        MOV A,M                 ; White's count
        MVI L,O.BACT
        BIT 7,E
        JRZ ..LESS
        MOV L,M                 ; a Black queen: White attacks
        MOV H,A
        MOV A,L
        SUB H
        DCR A
        RET
..LESS: SUB M
        DCR A
        RET
        .END
