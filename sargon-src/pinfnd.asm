; Finds the pinned pieces of both sides.

        .IDENT PINFND
        .INTERN PINFND
        .EXTERN TBASE,ATKLST,M3,NPINS,POSK
        .INSERT sargon.asm
        .IFE FAST,[.EXTERN ATTACK,NEWLST][.EXTERN RAYWIS,SPREAD]

; While a ray is walked outwards from a royal piece:
;   HL   the square reached         B   the type that pins along this ray: BISHOP or ROOK
;   C    the step to the next       E   bit 7 colour of the royal piece
;   D    the candidate's square     IY  the royal piece's entry in POSK, POSQ
;   HL'  next of the steps       B'  rays left of this kind

; PINFND - lists the pieces that are pinned against a king or a queen.
;   Entry:    the board and the high byte of M3 set up; POSK, POSQ = squares of White's and Black's
;             king and queen, BORDER after them
;   Exit:     NPINS pins in PLISTA (squares) and PLDIRA (steps outwards); M3 changed
;   Errors:   none: 32 pins are the most there can be, and the list has room for them
;   Clobbers: AF, BC, DE, HL, BC', DE', HL', IY, ATKLST, STATUS
;   Stack:    30 bytes; fast 34
;   Cycles:   336..10452 over the corpus; original 336..10516; fast 16065..70365
PINFND: XRA A
        STA NPINS               ; the list grows from here on
        LXI Y,POSK              ; Y survives all that is done for one royal piece; falls into ROYAL
ROYAL:  MOV A,0(Y)              ; its square
        CPI BORDER              ; ends the list
        .IFE FAST,[RZ][JZ SPREAD]
        ORA A                   ; 0: it is not on the board
        CNZ PINS
        INX Y
        JMPR ROYAL

; PINS - lists the pins against the royal piece on square A.
PINS:   STA M3                  ; the low byte; the page is already there
        LHLD M3
        MOV E,M                 ; bit 7: its colour is what counts
        EXX
        LXI H,TBASE+DIRECT      ; the steps in the order in which pins are listed
        MVI B,4                 ; four diagonals
        EXX
        MVI B,BISHOP
        CALL RAYS               ; leaves HL' at the ranks and files
        EXX                     ; and four ranks and files
        MVI B,4
        EXX
        MVI B,ROOK              ; falls into RAYS

; RAYS - walks B' rays from DIRECT entry HL' on.
RAYS:   EXX                     ; the steps are in the second set
        MOV A,M                 ; the next step
        INX H
        EXX
        MOV C,A                 ; A goes across: EXX leaves it
        LHLD M3                 ; every ray begins at the royal piece
..OUT:  MOV A,L                 ; past the empty squares
        ADD C
        MOV L,A                 ; only the low byte moves: the board is in one page
        MOV A,M
        ORA A
        JRZ ..OUT
        CPI BORDER              ; no piece on this ray
        JRZ ENDRAY
        XRA E                   ; bit 7: whether it is of the other colour
        JM ENDRAY               ; an enemy piece comes before any friendly one
        MOV D,L                 ; a friend: it is pinned if what follows pins it
..PAST: MOV A,L                 ; past the empty squares behind it
        ADD C
        MOV L,A
        MOV A,M
        ORA A
        JRZ ..PAST
        CPI BORDER              ; the friend has nothing behind it
        JRZ ENDRAY
        XRA E                   ; bit 7 is clear for a friend
        JP ENDRAY               ; a second friend
        XRA E                   ; its byte again
        ANI 7
        CMP B                   ; a bishop or rook on its own kind of line
        JRZ ..PIN
        CPI QUEEN               ; or a queen on any line
        JRNZ ENDRAY
        LHLD M3                 ; a queen: whom does she attack?
        MOV A,M
        ANI 7
        CPI QUEEN               ; against a king it is a pin in any case
        JRNZ ..PIN
        CALL HELD               ; a defended queen need not fear the other queen
        JP ENDRAY               ; more defenders than attackers: no pin
..PIN:  LXI H,NPINS             ; the low byte of the index is the count
        MOV A,M
        INR M                   ; one pin more
        ADI O.PINA
        MOV L,A                 ; the place in PLISTA
        MOV M,D                 ; the friend's square
        ADI O.PIND-O.PINA
        MOV L,A                 ; and as far into PLDIRA
        MOV M,C                 ; falls into ENDRAY
ENDRAY: EXX
        DCR B
        EXX
        JRNZ RAYS               ; this kind has another ray
        RET

; HELD - whether a queen attacked by a queen is defended: sign clear if she has more defenders than
; attackers, counted with the pins found so far. It takes into account that another ATTACK may
; change IY.
HELD:   PUSH B                  ; ATTACK uses all of them
        PUSH D
        PUSH Y                  ; ROYAL's place in the list
        EXX
        PUSH B                  ; rays left
        PUSH H                  ; next of the steps
        EXX
        .IFE FAST,[
        CALL NEWLST             ; an array of the royal square: M3 is still there
        CALL ATTACK
][
        CALL RAYWIS
]
        EXX
        POP H
        POP B
        EXX
        POP Y
        POP D
        POP B
        LXI H,ATKLST            ; counts are right whatever the order of filing
        MOV A,M                 ; White's count
        MVI L,O.BACT            ; M is Black's count from here on
        BIT 7,E                 ; whose queen?
        JRZ ..LESS
        MOV L,M                 ; a Black queen: White attacks
        MOV H,A                 ; A = defenders, H = attackers
        MOV A,L                 ; Black defends
        SUB H
        DCR A                   ; one defender too many is what it takes
        RET
..LESS: SUB M                   ; White defends
        DCR A                   ; negative unless it is more than enough
        RET
        .END
