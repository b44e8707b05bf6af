; Files one attacker in the attackers array.

        .IDENT ATKSAV
        .INTERN ATKSAV
        .EXTERN TBASE,NPINS
        .INSERT sargon.asm

; ATKSAV - stores the value of an attacker in its slot of its colour's section.
;   The slot is that of the piece's type, or the queen's when a queen was met on this ray. The first
;   of a slot goes low, the second high, so that the first comes out first. Into a full slot nothing goes:
;   the piece is pushed into the low half of the next byte that has room, whatever byte that is.
;   As in 1978, the direction stands for the queen met as soon as there is a pin, and the next byte
;   is taken without a look at it: a piece pushed out of it is lost, though counted, and behind a
;   section lies the other one's count or the pin list.
;   Entry:    A = type; E bit 7 = colour, bit 0 = a queen was met on this ray; C = step of the ray;
;             H = the data page
;   Exit:     the piece is stored and counted
;   Errors:   no room up to the king's byte: not stored, not counted, B.OVER of STATUS set; as in 1978
;             B.OVER is set when a piece was lost or the section left
;   Clobbers: AF, D, DE'
;   Stack:    2 bytes; as in 1978 6
;   Cycles:   214..356 over the corpus; as in 1978 260..387
ATKSAV: PUSH H
        MOV L,A
        EXX
        LXI D,TBASE             ; PVALUE is at the start of the page
        MOV E,A
        LDAX D
        EXX
        MOV D,A                 ; the value
        .IFE FAULT78,[
        BIT 0,E
        JRZ ..SLOT
][
        LDA NPINS
        ORA A
        MOV A,E
        JRZ ..FLAG
        MOV A,C                 ; the test for pins has left the step where the flag was:
        RLC                     ; downwards counts as behind a queen
..FLAG: RRC
        JRNC ..SLOT
]
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
        .IFE FAULT78,[
..NEXT: INR L
        MOV A,L
        CPI O.BACT
        JRZ ..FULL
        CPI O.PAST
        JRZ ..FULL
        MOV A,M
        ANI 0F0H
        JRNZ ..NEXT
..PUSH: MOV A,D
        RLD
        JMPR ..CNT
][
        INR L
        MOV A,L
        CPI O.BACT
        CZ ATKOVR
        CPI O.PAST
        CZ ATKOVR
..PUSH: MOV A,D
        RLD                     ; A: who was in the high half
        CNZ ATKOVR
        JMPR ..CNT
]
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
        .IFE FAULT78,[
..FULL: MVI L,O.STAT
        SET B.OVER,M
        POP H
        RET
][
ATKOVR: PUSH H
        MVI L,O.STAT
        SET B.OVER,M
        POP H
        RET
]
        .END
