; Definitions that all routines of the evaluator share; inserted, it makes no code.

; Types of pieces, bits 2-0 of a piece; bit 7 is the colour, 1 for Black.
PAWN    == 1
KNIGHT  == 2
BISHOP  == 3
ROOK    == 4
QUEEN   == 5
KING    == 6
BORDER  == 0FFH         ; what stands around the board
A1      == 21           ; the first square: 21 + file + 10 * rank
H8      == 98           ; the last

; The data page. All variables lie in one page, so that the low byte of an address chooses
; among them and, below 120, is the number of a square. data.asm lays the page out and checks these.
O.ATKL  == 79H          ; ATKLST: White's section; its addresses have bit 7 clear
O.BACT  == 80H          ; Black's section; its addresses have bit 7 set
O.END   == 87H          ; a byte that is never 0: walks along the array end here
O.STAT  == 88H          ; STATUS
O.PINA  == 90H          ; PLISTA: pinned squares
O.PIND  == 0B0H         ; PLISTD: directions of the pins
PINMAX  == 32           ; room for pins: 4 royal pieces with 8 rays each
SECTN   == 7            ; bytes in a section of the array

; The table page: offsets from TBASE, where tables.asm puts them.
PVALUE  == 0            ; values by type, 1 to 6

; Bits of STATUS.
B.OVER  == 0            ; a piece found no room in its section and was left out
B.SHRT  == 1            ; a count promised more than its section held

PTSLEN  == 8            ; bytes that POINTS finds, from PTSL on
; Bits of PTSCK, which tell that the piece that has just moved is in danger.
B.DNGR  == 0            ; in the article: it has a residue
B.BOOK  == 1            ; in the program of 1978: and no square before it has a higher one
