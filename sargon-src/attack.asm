; Finds the attackers of a square and the defenders of the piece on it.

        .IDENT ATTACK
        .EXTERN ATKSAV,PNCK,M3,NPINS
        .INSERT sargon.asm

; While the rays are walked:
;   HL   the square reached         B   the square under examination
;   C    the step of this ray       E   bit 7 the colour of the ray's pieces, bit 0 queen seen
; Every direction has its own code with the step as a constant: fetching steps from a table took
; two fifths of the time. The order is that of DIRECT: it decides which piece is first in a slot.

; ATTACK - files every attacker and defender of a square in the attackers array.
;   In the fast evaluator ATTACK is another routine (spread.asm), and this one, ATKRAY there, serves
;   the positions that the other leaves out.
;   Entry:    M3 = the square's address; the 14 bytes of ATKLST are 0; the pin list is complete
;   Exit:     ATKLST filled, NPINS and the pin list unchanged
;   Errors:   B.OVER of STATUS set if a piece found no room
;   Clobbers: AF, BC, DE, HL, DE'
;   Stack:    12 bytes
;   Cycles:   1167..6521 over the corpus; original 1167..6912
        .IFE FAST,[.INTERN ATTACK
ATTACK:][.INTERN ATKRAY
ATKRAY:]
        LHLD M3                 ; H, the page of the board, is never changed
        MOV B,L                 ; saved in B: each ray and leap starts from there

; RAY - walks from the square under examination to the first piece or the border; AT takes up the
; piece.
        .DEFINE RAY[STEP,AT,%NEXT]=[
        MVI C,STEP
        MOV L,B                 ; back to the start
%NEXT:  MOV A,L
        ADD C                   ; one step on
        MOV L,A
        MOV A,M
        ORA A
        JRZ %NEXT               ; an empty square: on
        INR A                   ; 0 at the border
        CNZ AT
]
        RAY +9,DIAGNL           ; +9 and +11 go up, towards Black
        RAY +11,DIAGNL
        RAY -11,DIAGNL
        RAY -9,DIAGNL
        RAY +10,STRAIT          ; up and down the file, then along the rank
        RAY -10,STRAIT
        RAY +1,STRAIT
        RAY -1,STRAIT

; LEAP - looks for a knight a leap away. Neither an empty square nor the border has a knight's type.
        .DEFINE LEAP[STEP]=[
        MVI A,STEP
        ADD B                   ; from the square itself
        MOV L,A
        MOV A,M
        ANI 7                   ; the border is of type 7
        CPI KNIGHT
        CZ LEAPER
]
        LEAP -21                ; the order of DIRECT, as for the rays
        LEAP -12
        LEAP +8
        LEAP +19
        LEAP +21
        LEAP +12
        LEAP -8
        LEAP -19
        RET

; TAKE - files the piece of type A on square HL unless a pin bars it. Pins are rare: PNCK is called
; only if there are any, and returns with carry set for a piece that is barred.
        .DEFINE TAKE=[
        MOV D,A                 ; PNCK uses A
        LDA NPINS
        ORA A                   ; carry is clear from here on if PNCK is not called
        CNZ PNCK
        MOV A,D
        CNC ATKSAV              ; carry set: it is barred
]
LEAPER: MOV A,L
        SUB B                   ; from the square under examination to the knight
        MOV C,A                 ; the step, for PNCK
        MOV E,M                 ; the colour; bit 0 is clear in KNIGHT: no queen
        MVI A,KNIGHT            ; ATKSAV's argument
        TAKE
        RET

; FIRST - takes up the first piece of a ray, A its byte and one more. KIND slides along this ray; a
; king counts if it is adjacent, and what PAWNS adds decides about pawns. Falls into BEYOND.
        .DEFINE FIRST[KIND,OTHERS,FOUND,QUEENS]=[
        DCR A
        MOV E,A                 ; bit 7 is the colour of this ray from here on
        RES 0,E                 ; no queen yet
        ANI 7
        CPI KIND                ; the piece that slides here
        JRZ FOUND
        CPI QUEEN
        JRZ QUEENS              ; a queen slides everywhere
        MOV D,A
        MOV A,L                 ; kings and pawns reach one step only
        SUB B                   ; how far away
        CMP C                   ; one step?
        RNZ
        MOV A,D
        CPI KING                ; a king ends the ray
        JRZ OTHERS
]
; BEYOND - files the piece of type A and continues to the next piece of its colour that slides along
; the same ray: it attacks through the one before. Anything else ends the ray.
        .DEFINE BEYOND[KIND,FOUND,QUEENS,%NEXT]=[
QUEENS: SET 0,E                 ; queen and all pieces after her: the queen's slot
FOUND:  TAKE
%NEXT:  MOV A,L
        ADD C                   ; the next square behind it
        MOV L,A
        MOV A,M
        ORA A
        JRZ %NEXT
        XRA E                   ; bit 7: another colour?
        RM                      ; the other colour, or the border if Black is on this ray
        XRA E                   ; the byte again
        ANI 7
        CPI KIND
        JRZ FOUND
        CPI QUEEN
        JRZ QUEENS
        RET
]
DIAGNL: FIRST BISHOP,ALONE,DFOUND,DQUEEN
        CPI PAWN                ; FIRST has left the type in A, one step away
        RNZ
        MOV A,E                 ; White's pawns attack upwards, so they are a negative step away,
        XRA C                   ; Black's a positive one: bit 7 of colour and step differ
        RP                      ; the signs agree: it attacks the other way
        MVI A,PAWN              ; the type again, for TAKE
        JMPR DFOUND
        BEYOND BISHOP,DFOUND,DQUEEN

STRAIT: FIRST ROOK,ALONE,SFOUND,SQUEEN
        RET                     ; a knight, bishop or pawn there does not attack this way
        BEYOND ROOK,SFOUND,SQUEEN

; Nothing is seen through a king.
ALONE:  TAKE
        RET
        .END
