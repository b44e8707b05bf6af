; Definitions that all routines of the evaluator share; inserted, it makes no code.

; How the evaluator is assembled; the builder defines all. ORIGINAL is 1 for the original with its
; bugs, FAST is 1 if the fast evaluator finds the attackers (spread.asm), Z180 is 1 for
; that processor.
        .IFNDEF ORIGINAL,[ORIGINAL == 0]
        .IFNDEF FAST,[FAST == 0]
        .IFNDEF Z180,[Z180 == 0]

; Types of pieces, bits 2-0 of a piece; bit 7 is the colour, 1 for Black.
PAWN    == 1
KNIGHT  == 2
BISHOP  == 3
ROOK    == 4
QUEEN   == 5
KING    == 6
BORDER  == 0FFH         ; the squares around the board
A1      == 21           ; the first square: 21 + file + 10 * rank
H8      == 98           ; the last

; The data page. All variables lie in one page, so that the low byte of an address chooses
; among them and, below 120, is the number of a square. data.asm lays the page out and checks these.
; As in the original the pins lie directly after the array, where walks that leave it end up.
SECTN   == 7            ; bytes in a section of the array
PINMAX  == 32           ; room for pins: 4 royal pieces with 8 rays each
BOARD   == 0            ; the board
O.ATKL  == 79H          ; ATKLST: White's section; its addresses have bit 7 clear
O.BACT  == 80H          ; Black's section; its addresses have bit 7 set
O.PAST  == 87H          ; after the array
O.END   == O.PAST+2*PINMAX*ORIGINAL     ; the fence, where walks end
O.PINA  == O.PAST+1-ORIGINAL            ; PLISTA: pinned squares
O.PIND  == O.PINA+PINMAX                ; PLDIRA: directions of the pins
; The same by index, as the original has it: from the page that NPINS points to, the first
; pin being number 1. That page follows the data page, since offsets reach 128 bytes back.
PLIST   == O.PINA-1-100H
PLISTD  == O.PIND-1-100H
O.STAT  == O.PAST+2*PINMAX+1            ; STATUS
FENCE   == 10H          ; the byte at O.END: not 0, and no piece in its low half

; The columns of the fast evaluator: all attackers arrays of a position at once. Each byte of an
; array has its own page, in which the low byte of an address is the number of the square, so
; that the next square is in the same pages. White's columns, the data page and Black's columns
; follow each other; bit 3 of the page is the colour. The layouts keep these pages free: as bytes
; they must be known when the program is assembled.
COLUMN  == 0B0H         ; page of White's counts; its slots follow, by type
BLKCOL  == 8            ; from there to Black's
DATPAG  == COLUMN+SECTN ; the data page

; The table page: offsets from TBASE, where tables.asm puts them.
PVALUE  == 0            ; values by type, 1 to 6
DIRECT  == 8            ; steps: 4 diagonals, 4 ranks and files, 8 knight's leaps

; Bits of STATUS.
B.OVER  == 0            ; a piece found no room in its section
B.SHRT  == 1            ; a count exceeds its section's entries

PTSLEN  == 8            ; bytes that POINTS finds, from PTSL on
; Bits of PTSCK: the piece that has just moved is in danger.
B.DNGR  == 0            ; in the article: it has a residue
B.ORG   == 1            ; in the original: and no square before it has a higher one

; Records of TRACE: what was done.
S.TAKE  == 1            ; takes; the defender is to answer
S.LAST  == 2            ; takes, and nothing recaptures: the end
; Worth more than the piece, but no more than its guard: bring in the next attacker.
S.HELP  == 3
S.ALON  == 4            ; the same, and there is no next: the end
S.STOP  == 5            ; worth more than piece and guard: the end
S.LEN   == 5            ; bytes in a record

; ZOFA - Z by A behind RRD and RLD: a Z180 sets it by the byte in memory.
        .DEFINE ZOFA=[
        .IFN Z180,[
        ORA A
]]
