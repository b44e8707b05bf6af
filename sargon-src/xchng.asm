; Plays out the captures on one square.

        .IDENT XCHNG
        .INTERN XCHNG,XCBOOK
        .EXTERN NEXTAD,P1,T3,WACT,BACT
        .INSERT sargon.asm

; The registers while an exchange is played (the article's Table 2):
;   first set:   B defenders left   DE attacker's section   HL defender's section
;                C attackers left   IX the piece's entry in the table of values
;   second set:  B points at stake  C side flag: bit 0 is 0 when the first attacker's side captures
;                E residue          L value of the attacker
;   AF':         A value of the defender
; NEXTAD exchanges the roles of the two sides each time (the article's Table 3).

; XCHNG - computes the points that the owner of a square stands to lose on it.
;   Entry:    P1 = the piece on the square, T3 = its type in the table page, ATKLST filled
;   Exit:     E = residue, 0 to the piece's value; the other register set is current; ATKLST used up
;   Errors:   B.SHRT of STATUS set when a count promised more than its section held
;   Clobbers: AF, BC, DE, HL of both sets, AF', IX
;   Stack:    2 bytes
;   Cycles:   209..2571 over the corpus
XCHNG:  LXI H,BACT
        LXI D,WACT
        LDA P1
        RLC
        JRC ..SET
        XCHG                    ; a White piece is attacked by Black
..SET:  MOV B,M
        LDAX D
        MOV C,A
        EXX
        LXI B,0
        MOV E,C
        LIXD T3
        MOV B,PVALUE(X)
        CALL NEXTAD
        RZ                      ; nobody attacks
        MOV L,A

; An attacker is at hand. What guards the square against it?
GUARD:  CALL NEXTAD
        JRZ XCBOOK              ; nothing: the piece is lost, and that ends it
        EXAF
        MOV A,B
        CMP L
        JRC DEARER
        CALL XCBOOK             ; not dearer than what it takes: it takes
        MOV B,L                 ; the capturer now stands on the square,
        EXAF
        MOV L,A                 ; and the defender is the one to capture
        JMPR GUARD

; The attacker is dearer than what it would take. It goes on only while each defender is at
; least as dear and there is another attacker behind it.
DEARER: EXAF
..NEXT: CMP L
        RC
        CALL NEXTAD
        RZ
        MOV L,A
        CALL NEXTAD
        JRNZ ..NEXT

; XCBOOK - books the points at stake: won by the first attacker's side, or lost again.
;   Entry:    B = points at stake, C bit 0 = which side captures, E = residue so far
;   Exit:     E = residue
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   42..45
XCBOOK: MOV A,B
        BIT 0,C
        JRZ ..ADD
        NEG
..ADD:  ADD E
        MOV E,A
        RET
        .END
