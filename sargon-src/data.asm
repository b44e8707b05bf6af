; The evaluator's variables, in one page. The page must start at a multiple of 256: the layout
; aligns it. Nothing here has a value before the front end has set it up (SETUP in app.asm).

        .IDENT SARDAT
        .INTERN BOARDA,ATKLST,WACT,BACT,STATUS,NPINS,PLISTA,PLISTD
        .INTERN POSK,POSQ,M3,T3,P1
        .INSERT sargon.asm

        .LOC .DATA.
BOARDA: .BLKB 120                       ; ten squares a row, two border rows on either side
        .BLKB 1
ATKLST:                                 ; the attackers array (Table 1 of the article)
WACT:   .BLKB SECTN                     ; White: count; P, N, B, R, Q, K, two entries a byte
BACT:   .BLKB SECTN                     ; Black
ENDLST: .BLKB 1                         ; not 0
STATUS: .BLKB 1                         ; bits B.OVER and B.SHRT
NPINS:  .BLKB 1                         ; how many pins
P1:     .BLKB 1                         ; the piece on the square under examination
M3:     .BLKW 1                         ; that square: its address in this page
T3:     .BLKW 1                         ; the piece's type: an address in the table page
        .BLKB 1
PLISTA: .BLKB PINMAX                    ; squares of pinned pieces
PLISTD: .BLKB PINMAX                    ; direction of each pin, outwards from the royal piece
POSK:   .BLKB 2                         ; squares of the White and the Black king, 0 for none
POSQ:   .BLKB 2                         ; squares of the White and the Black queen, 0 for none
        .BLKB 1                         ; BORDER ends the list

        .IFN WACT-BOARDA-O.ATKL,[.ERROR "ATKLST is not where O.ATKL says"]
        .IFN BACT-BOARDA-O.BACT,[.ERROR "BACT is not where O.BACT says"]
        .IFN ENDLST-BOARDA-O.END,[.ERROR "the array does not end at O.END"]
        .IFN STATUS-BOARDA-O.STAT,[.ERROR "STATUS is not where O.STAT says"]
        .IFN PLISTA-BOARDA-O.PINA,[.ERROR "PLISTA is not where O.PINA says"]
        .IFN PLISTD-BOARDA-O.PIND,[.ERROR "PLISTD is not where O.PIND says"]
        .END
