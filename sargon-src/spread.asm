; The fast evaluator's finding of attackers: piece by piece for all squares at once, instead of
; square by square.

        .IDENT SPREAD
        .INTERN SPREAD,ATTACK,RAYWIS
        .EXTERN TBASE,ATKLST,ATKRAY,CLRLST,M3,NPINS,PLISTA,POSQ
        .INSERT sargon.asm

; An attackers array keeps the order in which pieces were filed only within a byte. With at most
; two pieces of a type and one queen a side, whatever shares a byte has the same value, or one is
; the queen and the other is behind her on her ray. So the pieces can be filed in any order, the
; queens first. If a byte is full all the same, or there is a second queen, the position is left to
; ATKRAY, square by square (SLOW).

        .LOC .DATA.
SLOW:   .BLKB 1                 ; not 0 if the columns do not count
OWN:    .BLKB 1                 ; the piece that is spread
OWNSQ:  .BLKB 1                 ; its square

        .LOC .PROG.
; While a piece is spread:
;   HL   the square reached         B   the page of its colour's counts
;   C    the step                   D   the page of its slot
;                                   E   its value

; SPREAD - fills the columns: files every piece on each square that it attacks or defends.
;   Entry:    the board, the pin list, POSQ
;   Exit:     ATTACK can be called for any square
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    20 bytes
;   Cycles:   15710..65171 over the corpus
SPREAD: XRA A                   ; until a reason is found, the columns count
        STA SLOW
        LXI H,COLUMN*256+A1     ; White's seven pages
        CALL CLEAR
        LXI H,(COLUMN+BLKCOL)*256+A1    ; and Black's
        CALL CLEAR              ; A is still 0
        LXI H,POSQ
        CALL FIRSTQ             ; White's queen
        LXI H,POSQ+1
        CALL FIRSTQ             ; Black's
        LXI H,DATPAG*256+A1     ; then the board, in the order of squares
..RANK: MVI C,8
..FILE: MOV A,M                 ; the piece on this square
        ORA A
        CNZ PIECE               ; 0 is an empty square
        INR L
        DCR C
        JRNZ ..FILE
        INR L                   ; past the border on either side
        INR L
        MOV A,L
        CPI H8+3                ; one rank beyond the last
        JRNZ ..RANK
        RET

; CLEAR - empties the seven columns from HL on. A is 0.
CLEAR:  MVI C,SECTN             ; a count and six slots
..PAGE: MVI B,8                 ; ranks of a page
..RANK: MOV M,A
        INR L
        MOV M,A
        INR L
        MOV M,A
        INR L
        MOV M,A
        INR L
        MOV M,A
        INR L
        MOV M,A
        INR L
        MOV M,A
        INR L
        MOV M,A
        INR L                   ; to the next rank
        INR L
        INR L
        DJNZ ..RANK
        MVI L,A1                ; back to a1
        INR H                   ; in the next page
        DCR C                   ; B ends each page at 0, C the section
        JRNZ ..PAGE
        RET

; FIRSTQ - spreads the queen whose square is at HL, if there is one: before all others, so that she
; comes first in her slot.
FIRSTQ: MOV A,M
        ORA A                   ; square 0: no queen of this colour
        RZ                      ; there is none
        MVI H,DATPAG            ; the board is in the data page
        MOV L,A
        MOV A,M                 ; the piece there, for her colour
        CALL OPEN               ; leaves the type in A for UNIT
        JMP UNIT                ; she gets no look at OTHERQ: she is the one

; PIECE - spreads the piece A on square HL; preserves HL and C.
PIECE:  PUSH H
        PUSH B                  ; PIECE is called between two squares of a rank
        CALL OPEN               ; A = type
        CPI QUEEN
        JRZ ..QUEN
        CALL UNIT
        JMPR ..DONE
..QUEN: CALL OTHERQ             ; FIRSTQ has spread her, if she is the one
..DONE: POP B
        POP H
        RET

; OTHERQ - looks at the queen on square OWNSQ: her colour's columns are ready for one queen only,
; FIRSTQ's.
OTHERQ: LXI H,POSQ
        LDA OWN
        RLC                     ; carry: Black
        JRNC ..WHT
        INX H                   ; POSQ+1 is Black's
..WHT:  LDA OWNSQ
        CMP M                   ; is she the one in FIRSTQ?
        RZ                      ; falls into CANT
CANT:   MVI A,1                 ; a second queen: the order within a byte would matter
        STA SLOW                ; any value but 0 will do
        RET

; OPEN - makes the piece A on square HL the one that is spread; A = its type.
OPEN:   MOV B,A                 ; piece in B: LDA and STA need A
        STA OWN
        MOV A,L
        STA OWNSQ
        MOV A,B
        ANI 7                   ; its type
        LXI H,TBASE             ; PVALUE is at the start of the page
        MOV L,A
        MOV E,M                 ; its value
        BIT 7,B                 ; whose columns? The colour chooses the pages
        MVI B,COLUMN            ; MVI leaves Z
        JRZ ..SET
        MVI B,COLUMN+BLKCOL
..SET:  ADD B                   ; the slots follow the counts, by type
        MOV D,A
        MOV A,L                 ; the type again, for the next comparison
        RET

; UNIT - spreads a piece of type A that OPEN has prepared.
UNIT:   MOV L,A                 ; type in L: A is used for pins
        LDA NPINS               ; pins are rare
        ORA A
        MOV A,L
        JNZ PINNED              ; falls into FREE
FREE:   CPI KNIGHT              ; types rise: carry is a pawn, Z a knight
        JRC PAWNS               ; a pawn
        JRZ LEAPS               ; a knight
        CPI ROOK                ; and again: carry a bishop, Z a rook
        JRC DIAGS               ; a bishop
        JRZ STRTS               ; a rook
        CPI QUEEN
        JNZ KINGS               ; a king
        CALL STRTS              ; a queen is both; falls into DIAGS
DIAGS:  MVI C,+9                ; the step stays in C for the whole ray
        CALL DIAG
        MVI C,+11
        CALL DIAG
        MVI C,-11
        CALL DIAG
        MVI C,-9
        JMP DIAG                ; the last ray returns for all four

STRTS:  MVI C,+10
        CALL STRT
        MVI C,-10
        CALL STRT
        MVI C,+1
        CALL STRT
        MVI C,-1
        JMP STRT

; ONE - files the piece on the square a step away, if there is one.
        .DEFINE ONE[STEP]=[
        LDA OWNSQ               ; always from the piece's square
        ADI STEP
        MOV L,A
        MVI H,DATPAG            ; the border is in the data page
        MOV A,M
        INR A                   ; 0 at the border
        CNZ FILE
]
PAWNS:  BIT 3,B                 ; the colour, as a bit of the page
        JRNZ ..BLK
        ONE +9                  ; upwards to the left and right
        ONE +11
        RET
..BLK:  ONE -9                  ; downwards
        ONE -11
        RET

LEAPS:  ONE -21                 ; the order is free: a byte holds two equal knights
        ONE -12
        ONE +8
        ONE +19
        ONE +21
        ONE +12
        ONE -8
        ONE -19
        RET

KINGS:  ONE +9
        ONE +11
        ONE -11
        ONE -9
        ONE +10
        ONE -10
        ONE +1
        ONE -1
        RET

; PINNED - looks the piece up in the pin list. Pinned once, it attacks along the pin only; twice,
; nothing.
PINNED: PUSH B                  ; B, the page of the counts, is needed by FREE and LINE
        LDA NPINS
        MOV C,A                 ; BC = entries to search, for CCIR
        MVI B,0
        LXI H,PLISTA
        LDA OWNSQ               ; is it in the list?
        CCIR                    ; CPIR: P/V is clear at the end of the list
        JRNZ ..FREE
        JPO ..ONCE              ; that was the last of the list
        PUSH H
        CCIR                    ; once more?
        POP H                   ; HL after the first entry is what ..ONCE needs
        JRNZ ..ONCE
        POP B
        RET                     ; pinned on two lines: it attacks nothing
..FREE: POP B
        LDA OWN                 ; PINNED has overwritten the type of UNIT
        ANI 7                   ; without the colour
        JMP FREE
..ONCE: POP B                   ; the page of the counts; C is loaded next
        MOV A,L                 ; after the entry
        ADI O.PIND-O.PINA-1     ; from the entry to its direction
        MOV L,A
        MOV C,M                 ; the direction of the pin
        CALL LINE
        XRA A                   ; and the same line in the other direction
        SUB C
        MOV C,A
        CALL LINE
        RET

; LINE - spreads the piece in the direction C, if it attacks that way. A knight never does: no pin
; goes its way.
LINE:   LDA OWN
        ANI 7
        CPI KNIGHT              ; its leaps are on no line
        RZ
        CPI KING
        JRZ ..STEP              ; a king attacks along the line, one step
        MOV L,A                 ; type in L: A takes the step
        MOV A,C
        BIT 7,A                 ; the line is the same both ways
        JRZ ..ABS
        NEG                     ; the size of the step selects rank, file or diagonal
..ABS:  CPI 9                   ; nine and eleven are diagonals
        JRZ ..DIAG
        CPI 11
        JRZ ..DIAG
        MOV A,L                 ; a rank or file
        CPI ROOK
        JRNC STRT               ; rook and queen
        RET
..DIAG: MOV A,L
        CPI ROOK                ; a rook does not go diagonally
        RZ
        CPI PAWN
        JRNZ DIAG               ; bishop and queen
        LDA OWN
        XRA C                   ; sign: colour against direction
        RM                      ; a pawn does not attack backwards
..STEP: LDA OWNSQ               ; kings and pawns reach one step
        ADD C
        MOV L,A                 ; the one square, on the board
        MVI H,DATPAG
        MOV A,M
        INR A                   ; 0 at the border
        RZ
        JMP FILE                ; files it and returns for LINE

; RAY - spreads the piece along the ray of step C. It attacks what it meets; it attacks further only
; through pieces of its own colour that do so too: those of KIND and queens; OTHER decides about the
; rest.
        .DEFINE RAY[KIND,NEXT,OTHER,%HIT,%TWO]=[
        LDA OWNSQ               ; every ray begins at the piece's square
        MOV L,A
NEXT:   MOV A,L
        ADD C
        MOV L,A
        MVI H,DATPAG            ; the next square's piece?
        MOV A,M
        ORA A
        JRNZ %HIT
        MOV H,B                 ; as FILE
        INR M                   ; one more attacker of this square
        MOV H,D
        MOV A,M                 ; is its slot taken?
        ORA A
        JRNZ %TWO
        MOV M,E                 ; the first comer goes low
        JMPR NEXT
%TWO:   CALL SECOND
        JMPR NEXT
%HIT:   INR A                   ; 0 at the border
        RZ                      ; the border
        CALL FILE
        MVI H,DATPAG
        LDA OWN
        XRA M                   ; bit 7: the other colour?
        RM                      ; the other colour
        MOV A,M
        ANI 7
        CPI KIND
        JRZ NEXT                ; of the same kind: it attacks on behind it
        CPI QUEEN
        JRNZ OTHER
        MVI A,QUEEN             ; the queen's slot of its colour
        ADD B
        CMP D
        JRZ NEXT                ; it is there already
        PUSH D
        MOV D,A                 ; from here on it is behind a queen
        CALL NEXT               ; the rest of the ray
        POP D                   ; the next ray starts in the type's slot
        RET
]
STRT:   RAY ROOK,SNEXT,OPAQUE
OPAQUE: RET
DIAG:   RAY BISHOP,DNEXT,PAWNRY

; A pawn attacks one square only, and so does a piece that attacks through it.
PAWNRY: CPI PAWN                ; anything else bars the ray
        RNZ
        MOV A,M
        XRA C                   ; does the pawn attack this ray's way?
        RM                      ; it attacks the other way
        MOV A,L
        ADD C
        MOV L,A                 ; the one square that both attack
        MOV A,M
        INR A                   ; 0 at the border
        RZ                      ; the border; else falls into FILE
; FILE - files the piece on the square L of any page. Falls into SECOND if its slot there is not
; empty.
FILE:   MOV H,B                 ; page of the counts, same square
        INR M                   ; one more attacker
        MOV H,D                 ; page of the slot, same square
        MOV A,M                 ; is the slot taken?
        ORA A
        JRNZ SECOND
        MOV M,E                 ; the first comer goes low
        RET

; SECOND - files the piece in the slot at HL, whose entry is A.
SECOND: CPI 10H
        JRNC ..FULL             ; two are there
        MOV A,E                 ; the value of the newcomer
        RLC                     ; into the high half
        RLC
        RLC
        RLC
        ORA M                   ; over the first comer
        MOV M,A
        RET
..FULL: MOV A,D
        SUB B                   ; page of the slot less that of the counts: the type
        CPI QUEEN               ; a full slot of the queen is the only one that may be passed
        JNZ CANT                ; three of a type
; The third on the queen's ray goes to the king's slot, before the king.
        INR H                   ; the king's page follows the queen's
        MOV A,M
        CPI 10H                 ; room for one more?
        JNC CANT
        RLC                     ; the king moves up
        RLC
        RLC
        RLC
        ORA E                   ; and the newcomer goes low, to come out first
        MOV M,A
        RET

; ATTACK - takes the attackers array of a square out of the columns.
;   Entry:    M3 = the square's address; PINFND has ended with SPREAD
;   Exit:     ATKLST filled
;   Errors:   as ATKRAY in positions that SPREAD left out
;   Clobbers: AF, BC, DE, HL, DE'
;   Stack:    14 bytes
;   Cycles:   371..6733 over the corpus
ATTACK: LDA SLOW                ; SPREAD may have left this position out
        ORA A
        JRNZ RAYWIS             ; the columns do not count
        LHLD M3                 ; L, the square, is the same in all pages
        MVI H,COLUMN            ; White's counts; L is the square
        LXI D,ATKLST            ; the array is in the data page
; MOVE - copies a byte of a column to the array.
        .DEFINE MOVE=[
        MOV A,M
        STAX D
        INR H
        INR E
]
        MOVE                    ; White's count, then six slots by type
        MOVE
        MOVE
        MOVE
        MOVE
        MOVE
        MOVE
        INR H                   ; the data page lies between the columns
        MOVE
        MOVE
        MOVE
        MOVE
        MOVE
        MOVE
        MOV A,M
        STAX D
        RET

; RAYWIS - as ATTACK of the other evaluators, on an array with any content.
;   Entry:    M3 = the square's address; the pin list as far as it is known
;   Exit:     ATKLST filled
;   Errors:   B.OVER of STATUS set if a piece found no room
;   Clobbers: AF, BC, DE, HL, DE'
;   Stack:    12 bytes
;   Cycles:   1300..7000
RAYWIS: CALL CLRLST             ; ATKRAY adds to what is there
        JMP ATKRAY
        .END
