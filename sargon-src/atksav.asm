; Files one attacker in the attackers array.

        .IDENT ATKSAV
        .INTERN ATKSAV
        .EXTERN TBASE
        .INSERT sargon.asm

; ATKSAV - stores the value of an attacker in its slot of its colour's section.
;   The slot is that of the piece's type, or the queen's when a queen was met on this ray. The first
;   of a slot goes low, the second high, so that the first comes out first. Into a full slot nothing goes:
;   the piece is pushed into the low half of the next byte that has room, whatever byte that is.
;   Entry:    A = type; E bit 7 = colour, bit 0 = a queen was met on this ray; H = the data page
;   Exit:     the piece is stored and counted
;   Errors:   no room up to the king's byte: not stored, not counted, B.OVER of STATUS set
;   Clobbers: AF, D, DE'
;   Stack:    2 bytes
;   Cycles:   214..356 over the corpus
ATKSAV: PUSH H
        MOV L,A
        EXX
        LXI D,TBASE             ; PVALUE is at the start of the page
        MOV E,A
        LDAX D
        EXX
        MOV D,A                 ; the value
        BIT 0,E
        JRZ ..SLOT
        MVI L,QUEEN
..SLOT: MOV A,L
        ADI O.ATKL
        BIT 7,E
        JRZ ..LOOK
        ADI SECTN
..LOOK: MOV L,A
        MOV A,M
        ANI 0FH
        JRZ ..PUSH
        MOV A,M
        ANI 0F0H
        JRZ ..HIGH
..NEXT: INR L
        MOV A,L
        CPI O.BACT
        JRZ ..FULL
        CPI O.END
        JRZ ..FULL
        MOV A,M
        ANI 0F0H
        JRNZ ..NEXT
..PUSH: MOV A,D
        RLD
        JMPR ..CNT
..HIGH: MOV A,D
        RLC
        RLC
        RLC
        RLC
        ORA M
        MOV M,A
..CNT:  MVI L,O.ATKL
        BIT 7,E
        JRZ ..ADD
        MVI L,O.BACT
..ADD:  INR M
        POP H
        RET
..FULL: MVI L,O.STAT
        SET B.OVER,M
        POP H
        RET
        .END
