; The evaluator's variables, in one page. The page must start at a multiple of 256: the layout
; aligns it. The front end initializes it (SETUP in positn.asm), with 0 unless noted.

        .IDENT SARDAT
        .INTERN BOARDA,ATKLST,WACT,BACT,ENDLST,PLISTA,PLDIRA,STATUS,POSK,POSQ
        .INTERN M1,M2,M3,M4,T1,T2,T3,INDX1,INDX2,NPINS,P1,P2,P3,PINPAG
        .INSERT sargon.asm

        .IFE FAST,[.LOC .DATA.][.LOC DATPAG*256]
BOARDA: .BLKB 120                       ; ten squares a row, two border rows on either side
        .BLKB 1
ATKLST:                                 ; the attackers array (Table 1 of the article)
WACT:   .BLKB SECTN                     ; White: count; P, N, B, R, Q, K, two entries a byte
BACT:   .BLKB SECTN                     ; Black
        .IFE ORIGINAL,[
ENDLST: .BLKB 1                         ; FENCE
]
PLISTA: .BLKB PINMAX                    ; squares of pinned pieces
PLDIRA: .BLKB PINMAX                    ; direction of each pin, outwards from the royal piece
        .IFN ORIGINAL,[
ENDLST: .BLKB 1
]
STATUS: .BLKB 1                         ; bits B.OVER and B.SHRT

; The program's index variables. M1 to M4 are addresses in this page, NPINS in the one after it, the
; others in the table page.
; The built-in routines use M3, the square evaluated, and T3, its piece's type; the rest is for
; override routines.
M1:     .BLKW 1
M2:     .BLKW 1
M3:     .BLKW 1
M4:     .BLKW 1
T1:     .BLKW 1                         ; low byte 7: fill the array
T2:     .BLKW 1
T3:     .BLKW 1
INDX1:  .BLKW 1
INDX2:  .BLKW 1
NPINS:  .BLKW 1                         ; how many pins: the low byte
P1:     .BLKB 1                         ; the piece on the square under examination
P2:     .BLKB 1
P3:     .BLKB 1
POSK:   .BLKB 2                         ; squares of the White and the Black king, 0 for none
POSQ:   .BLKB 2                         ; squares of the White and the Black queen, 0 for none
        .BLKB 1                         ; BORDER ends the list
        .BLKB BOARDA+100H-.             ; 0
PINPAG:                                 ; where PLIST and PLISTD count from

        .IFN WACT-BOARDA-O.ATKL,[.ERROR "ATKLST is not where O.ATKL says"]
        .IFN BACT-BOARDA-O.BACT,[.ERROR "BACT is not where O.BACT says"]
        .IFN ENDLST-BOARDA-O.END,[.ERROR "the fence is not where O.END says"]
        .IFN STATUS-BOARDA-O.STAT,[.ERROR "STATUS is not where O.STAT says"]
        .IFN PLISTA-BOARDA-O.PINA,[.ERROR "PLISTA is not where O.PINA says"]
        .IFN PLDIRA-BOARDA-O.PIND,[.ERROR "PLDIRA is not where O.PIND says"]
        .IFG POSQ-BOARDA-0FDH,[.ERROR "the variables do not fit one page"]
        .END
