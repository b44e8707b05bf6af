; The evaluator's constants. The page must start at a multiple of 256: the layout aligns it.

        .IDENT TABLES
        .INTERN TBASE
        .INSERT sargon.asm

TBASE:  .BYTE 0                         ; no piece
        .BYTE 1,3,3,5,9,10              ; PVALUE: points of P, N, B, R, Q, K
        .BYTE 0
STEPS:                                  ; DIRECT, on a board of ten squares a row:
        .BYTE +9,+11,-11,-9             ; diagonals
        .BYTE +10,-10,+1,-1             ; ranks and files
        .BYTE -21,-12,+8,+19            ; knights
        .BYTE +21,+12,-8,-19
        .IFN STEPS-TBASE-DIRECT,[.ERROR "the steps are not where DIRECT says"]
        .END
