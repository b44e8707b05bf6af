; Multiplies words.

        .IDENT MUL16
        .INTERN MUL16,MULADD

; MUL16 - multiplies two words, bit by bit.
;   Entry:    BC, DE = factors
;   Exit:     DE,HL = product, its high word in DE
;   Errors:   none
;   Clobbers: AF, DE, HL
;   Stack:    0 bytes
;   Cycles:   902..1205
MUL16:  LXI     H,0             ; the product shifts into DE,HL from below
        MVI     A,16
..BIT:  DAD     H
        RALR    E               ; the next bit of the factor, from the top
        RALR    D
        JRNC    ..NEXT
        DAD     B
        JRNC    ..NEXT
        INX     D
..NEXT: DCR     A
        JRNZ    ..BIT
        RET

; MULADD - multiplies two words by repeated addition.
;   Entry:    BC, DE = factors
;   Exit:     HL = low word of the product
;   Errors:   none
;   Clobbers: AF, DE
;   Stack:    0 bytes
;   Cycles:   38..2555882
MULADD: LXI     H,0
..NEXT: MOV     A,D
        ORA     E
        RZ
        DAD     B
        DCX     D
        JMPR    ..NEXT
        .END
