; Plays out the captures on one square.

        .IDENT XCHNG
        .INTERN XCHNG,XCADD,XCSUB,XCADDX,XCSUBX
        .EXTERN P1,T3,WACT,BACT
        .INSERT sargon.asm

; The registers while an exchange is played (the article's Table 2):
;   first set:   B defenders left   DE attacker's section   HL defender's section
;                C attackers left   IX the piece's entry in the table of values
;   second set:  B points at stake  C side flag: bit 0 is 0 when the first attacker's side captures
;                E residue          L value of the attacker
;   AF':         A value of the defender
; The sections change places with each piece fetched (the article's Table 3). NEXTAD, when it is called,
; changes the counts and the side flag as well. When the walk along the sections stands in line, B stays
; with the defenders and C with the attackers, both one more than what is left, and the flag is not kept.

; FETCH - takes the next piece of the side that LEFT counts: A its value. With none left, goes to E.EXIT.
;   It is NEXTAD's work in line, without a call and with each side's count in its own register.
        .IFE CALLED,[
        .DEFINE FETCH[LEFT,EXIT,%NEXT]=[
        EXX
        XCHG
        DCR LEFT
        JRZ E.'EXIT
        XRA A
%NEXT:  INR L
        CMP M
        JRZ %NEXT
        RRD
        CZ H.'EXIT              ; no piece in the low half
        DCR L
        EXX
]][     .EXTERN NEXTAD
        .DEFINE FETCH[LEFT,EXIT]=[
        CALL NEXTAD
        EXX
        JRZ E.'EXIT
        EXX
]]
; DEARER - the attacker is dearer than what it would take. Its side, counted by OWN, goes on only while
; each piece that answers is at least as dear and there is another attacker behind it.
        .DEFINE DEARER[OWN,OTHER,EXIT,%NEXT]=[
        EXAF
%NEXT:  CMP L
        RC
        FETCH OWN,NONE
        MOV L,A
        FETCH OTHER,EXIT
        JMPR %NEXT
]
; HALF - goes to E.EXIT when the walk is over, else takes the piece in the high half.
        .DEFINE HALF[EXIT]=[
H.'EXIT: CALL HIGH
        RNZ
        POP PSW                 ; back to XCHNG, but not where it was called
        JMPR E.'EXIT
]

; XCHNG - computes the points that the owner of a square stands to lose on it.
;   Entry:    P1 = the piece on the square, T3 = its type in the table page, ATKLST filled, FENCE behind it
;   Exit:     E = residue, 0 to the piece's value; either register set may be current; ATKLST and fence used up
;   Errors:   B.SHRT of STATUS set when a count promised more than its section held
;   Clobbers: AF, BC, DE, HL of both sets, AF', IX
;   Stack:    4 bytes; as in 1978 6
;   Cycles:   189..1373 over the corpus; as in 1978 228..7501
XCHNG:  LXI H,BACT
        LXI D,WACT
        LDA P1
        RLC
        JRC ..SET
        XCHG                    ; a White piece is attacked by Black
..SET:  MOV B,M
        LDAX D
        MOV C,A
        .IFE CALLED,[
        INR B
        INR C
        MVI A,FENCE             ; ends White's section as one behind the array ends Black's
        STA BACT
]
        EXX
        LXI B,0
        MOV E,C
        LIXD T3
        MOV B,PVALUE(X)
        FETCH C,NONE            ; nobody attacks: nothing is lost
        MOV L,A

; An attacker of the first side is at hand. What guards the square against it?
GUARD:  FETCH B,ADD             ; nothing: the piece is lost, and that ends it
        EXAF
        MOV A,B
        CMP L
        JRC FIRST
        ADD E                   ; not dearer than what it takes: it takes
        MOV E,A
XCADD:  MOV B,L                 ; the capturer now stands on the square,
        EXAF
        MOV L,A                 ; and the defender is the one to capture

; The same for the other side, which wins back.
        FETCH C,SUB
        EXAF
        MOV A,B
        CMP L
        JRC OTHER
        MOV A,E
        SUB B
        MOV E,A
XCSUB:  MOV B,L
        EXAF
        MOV L,A
        JMPR GUARD

; The ends: nobody captures any more, or the last one does.
E.NONE: EXX
        RET
E.ADD:  EXX
        MOV A,E
        ADD B
        MOV E,A
XCADDX: RET
E.SUB:  EXX
        MOV A,E
        SUB B
        MOV E,A
XCSUBX: RET

FIRST:  DEARER C,B,ADD
OTHER:  DEARER B,C,SUB

        .IFE CALLED,[
        HALF NONE
        HALF ADD
        HALF SUB

; HIGH - the walk has come to a byte whose low half is empty, and shifted it. Z clear: A = the value of
; the piece that was in its high half; Z set: it was a fence, and a count promised too much.
HIGH:   MOV A,L
        CPI O.BACT
        JRZ ..SHRT
        CPI O.END
        JRZ ..SHRT
        XRA A
        RRD
        RET
..SHRT: MVI L,O.STAT
        SET B.SHRT,M
        RET
]
        .END
