; Files one attacker in the attackers array.

        .IDENT ATKSAV
        .INTERN ATKSAV
        .EXTERN TBASE,NPINS
        .INSERT sargon.asm

; ATKSAV - stores the value of an attacker in its slot of its colour's section.
;   The slot is that of the piece's type, or the queen's if one came before on this ray. The first
;   of a slot goes low, the second high, so that the first comes out first. Nothing goes into a full
;   slot: the piece is pushed into the low half of the next byte that has room, whatever byte that
;   is. In the original, the direction stands for the queen met as soon as there is a pin, and the
;   next byte is taken without a look at it: a piece pushed out of it is lost, though counted, and
;   after a section comes the other one's count or the pin list.
;   Entry:    A = type; E bit 7 = colour, bit 0 = queen seen on this ray; C = step of the ray;
;             H = the data page
;   Exit:     the piece is stored and counted
;   Errors:   no room up to the king's byte: not stored, not counted, B.OVER of STATUS set;
;             original B.OVER is set if a piece was lost or the section left
;   Clobbers: AF, D, DE'
;   Stack:    2 bytes; original 6
;   Cycles:   161..298 over the corpus; original 190..362
ATKSAV: PUSH H
        MOV L,A                 ; the slot has the number of the type
        EXX
        LXI D,TBASE             ; PVALUE is at the start of the page
        MOV E,A                 ; DE' = the entry of PVALUE
        LDAX D                  ; by type
        EXX                     ; A goes across: EXX leaves it
        MOV D,A                 ; the value
        .IFE ORIGINAL,[
        BIT 0,E                 ; queen seen
        JRZ ..SLOT              ; none: the slot of its type
][
        LDA NPINS               ; any pin on the board changes what is tested
        ORA A
        MOV A,E
        JRZ ..FLAG
        MOV A,C                 ; the test for pins has left the step where the flag was:
        RLC                     ; downwards counts as after a queen
..FLAG: RRC
        JRNC ..SLOT
]
        MVI L,QUEEN             ; the queen's slot, whatever the piece is
..SLOT: MOV A,L                 ; which section?
        BIT 7,E                 ; set: a Black piece
        JRNZ BLACK              ; White's comes first

; STORE - puts the value D into slot A of the section at BASE, which ends before PAST, and counts
; it.
        .DEFINE STORE[BASE,PAST,%CNT,%PUSH,%USED,%NEXT]=[
        ADI BASE
        MOV L,A                 ; the slot's address
        MOV A,M
        ORA A
        JRNZ %USED              ; someone is there
        MOV M,D                 ; most slots are empty
%CNT:   MVI L,BASE              ; the count precedes the slots
        INR M
        POP H
        RET
        .IFE ORIGINAL,[
%USED:  CPI 10H                 ; is the high half empty?
        JRC HIGH
%NEXT:  INR L                   ; full: the next byte with room, whatever it is for
        MOV A,L
        CPI PAST
        JRZ FULL                ; past the king's: no room
        MOV A,M
        CPI 10H
        JRNC %NEXT              ; full, too
][
%USED:  ANI 0FH                 ; is only the low half empty?
        JRZ %PUSH
        MOV A,M
        CPI 10H                 ; or the high one?
        JRC HIGH
        INR L                   ; full: the next byte, looked at or not
        MOV A,L
        CPI PAST
        CZ ATKOVR               ; it is not a slot of this section
]
%PUSH:  MOV A,D
        RLD                     ; A: the entry that was in the high half
        .IFN ORIGINAL,[
        ZOFA
        CNZ ATKOVR
        ]
        JMPR %CNT
]
        STORE O.ATKL,O.BACT
BLACK:  STORE O.BACT,O.PAST

; HIGH - puts the value D into the high half of the byte at HL, and counts it.
HIGH:   MOV A,D                 ; HIGH is entered with the low half taken
        RLC                     ; into the high half
        RLC
        RLC
        RLC
        ORA M                   ; over the first comer
        MOV M,A
        MVI L,O.ATKL            ; White's count
        BIT 7,E                 ; count for its colour
        JRZ ..ADD
        MVI L,O.BACT            ; MVI leaves Z: Black's
..ADD:  INR M
        POP H                   ; pushed by ATKSAV
        RET
        .IFE ORIGINAL,[
FULL:   MVI L,O.STAT
        SET B.OVER,M            ; not stored, not counted
        POP H                   ; pushed by ATKSAV
        RET
][
ATKOVR: PUSH H                  ; HL is the byte with which STORE continues
        MVI L,O.STAT
        SET B.OVER,M
        POP H
        RET
]
        .END
