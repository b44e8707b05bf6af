; CRC-16/IBM-3740: polynomial 1021H, start FFFFH, no reflection, no final exclusive or.

        .IDENT CRC16
        .INTERN CRC16,C16INI

        .LOC .DATA.
; The layout aligns them to pages: the check of each byte alone, high halves.
HIGHS:  .BLKB 256
LOWS:   .BLKB 256               ; and low halves
ONES    == 1EH                  ; the one byte whose check has FFH as its low half

        .LOC .PROG.
; C16INI - fills the tables.
;   Entry:    nothing
;   Exit:     CRC16 can be called
;   Errors:   none
;   Clobbers: AF, BC, HL
;   Stack:    0 bytes
;   Cycles:   37391
C16INI: LXI H,HIGHS
; Eight steps of the polynomial at once: x is the byte with its high half.
..NEXT: MOV A,L
        RRC                     ; combined into its low half
        RRC
        RRC
        RRC
        ANI 0FH
        XRA L
        MOV C,A                 ; x
        RRC
        RRC
        RRC
        MOV B,A                 ; x > 3 in bits 0-4, x < 5 in bits 5-7
        ANI 0E0H
        XRA C
        INR H
        MOV M,A                 ; the low half: x < 5 with x
        DCR H
        MOV A,C
        RLC
        RLC
        RLC
        RLC
        ANI 0F0H                ; x < 4
        MOV C,A
        MOV A,B
        ANI 1FH
        XRA C
        MOV M,A                 ; the high half: x > 3 with x < 4
        INR L
        JRNZ ..NEXT
        RET

; CRC16 - computes the check of a stretch of memory.
;   Between two bytes C is the check's high half and HL points at its low half in the table.
;   Entry:    HL = first byte; BC = count, not 0; the tables are filled
;   Exit:     DE = check; HL = after the last byte; BC = 0
;   Errors:   none
;   Clobbers: AF
;   Stack:    2 bytes
;   Cycles:   98, 64 a byte, and 35 for each 256 begun
CRC16:  XCHG                    ; DE runs over the memory
        MOV A,C
        DCX B                   ; B = full stretches of 256 before the last
        PUSH B
        MOV B,A                 ; bytes of the first stretch, 0 for 256
        MVI C,0FFH              ; high half of the start value FFFFH
        LXI H,LOWS+ONES         ; and an address that contains FFH, its low half
..BYTE: LDAX D
        INX D
        XRA C                   ; the index: the byte with the high half
        MOV C,M                 ; the old low half becomes part of the high one
        MOV L,A                 ; the table's entry for that index
        DCR H                   ; HIGHS is the page before LOWS
        MOV A,M
        XRA C
        MOV C,A                 ; the new high half
        INR H                   ; HL points at the new low half
        DJNZ ..BYTE
        POP PSW
        SUI 1                   ; carry: that was the last stretch
        PUSH PSW                ; stretches left
        JRNC ..BYTE             ; B is 0: another 256
        POP PSW
        MOV A,M
        MOV B,C
        MOV C,A
        XCHG
        MOV D,B
        MOV E,C
        LXI B,0
        RET
        .END
