; The sections of the attackers array in the spaces that EXHAUST counts through.

        .IDENT SECTNS
        .INTERN SECTNS,SECADR,SECNXT,NOSPCE
        .INSERT wire.asm
        .INSERT sargon.asm

SECMAX  == 756                  ; sections of the largest space

        .LOC .DATA.
SPACE:  .BLKB 1                 ; the space whose sections are in the table
TOP:    .BLKW 1                 ; after the last of them
SECTAB: .BLKB SECMAX*SECTN
WORK:   .BLKB SECTN             ; the section being made: count, then P, N, B, R, Q, K
KINGS:  .BLKB 1                 ; the king's slot without what stands behind the queen
ROWS:   .BLKB 1                 ; rows to come, this one included

        .LOC .PROG.
; A row is what the queen's slot holds, what stands behind the queen in the king's slot, and the
; full bishops' and rooks' slots: a piece behind the queen is missing there.
ROW.Q   == 0
ROW.K   == 1
ROW.B   == 2
ROW.R   == 3
ROWLEN  == 4
ONE.B:  .BYTE 00H,0,03H,55H     ; no queen
        .BYTE 09H,0,03H,55H     ; one
        .BYTE 39H,0,00H,55H     ; a bishop behind her
        .BYTE 59H,0,03H,05H     ; a rook
        .BYTE 59H,5,03H,00H     ; two rooks, of which the second goes into the king's slot
TWO.B:  .BYTE 00H,0,33H,55H
        .BYTE 09H,0,33H,55H
        .BYTE 39H,0,03H,55H
        .BYTE 59H,0,33H,05H
        .BYTE 59H,5,33H,00H
        .BYTE 99H,0,33H,55H     ; two queens
SPACES: .WORD ONE.B             ; for each space its rows and how many they are
        .BYTE 5
        .WORD TWO.B
        .BYTE 5
        .WORD TWO.B
        .BYTE 6

; NOSPCE - clears which space's sections are in the table: what RAM contains after power-up is no
; table.
;   Entry:    nothing
;   Exit:     done
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   30
NOSPCE: MVI A,SPCNUM
        STA SPACE
        RET

; SECTNS - puts the sections of a space into the table, unless they are there already.
;   Entry:    A = space
;   Exit:     carry clear
;   Errors:   carry set: there is no such space
;   Clobbers: AF, BC, DE, HL, IX
;   Stack:    4 bytes
;   Cycles:   22..647846
SECTNS: CPI SPCNUM
        CMC                     ; carry if it is none
        RC
        LXI H,SPACE
        CMP M                   ; made before?
        RZ                      ; and carry is clear, as they are equal
        MOV M,A
        LXI H,SECTAB
        SHLD TOP                ; the table is empty
        LXI H,WORK
        MVI B,SECTN+1           ; KINGS too
..ZERO: MVI M,0
        INX H
        DJNZ ..ZERO
..OUTR: CALL ROW1
..ROW:  CALL SETROW
..EMIT: CALL EMIT
        LXI H,WORK+ROOK
        MVI B,5
        MOV C,ROW.R(X)          ; the row's full rooks
        CALL STEP               ; rooks are the innermost digit
        JRC ..EMIT
        MVI B,3
        MOV C,ROW.B(X)          ; and its full bishops
        CALL STEP               ; then bishops
        JRC ..EMIT
        LXI D,ROWLEN
        DADX D                  ; the next row
        LXI H,ROWS
        DCR M                   ; then queens and those after them
        JRNZ ..ROW
        LDA KINGS
        XRI 0AH                 ; with and without a king
        STA KINGS
        JRNZ ..OUTR
        LXI H,WORK+KNIGHT
        LXI B,333H              ; up to two knights, 3 points each
        CALL STEP               ; then knights
        JRC ..OUTR
        LXI B,111H              ; up to two pawns
        CALL STEP               ; and pawns, the outermost
        JRC ..OUTR
        RET

; STEP - adds a piece of value B to the slot HL unless its count is C already. Carry set when it
; did; else the slot is empty again and HL the slot before it.
STEP:   MOV A,M
        CMP C                   ; as full as it may be?
        MOV A,B
        JRNC ..FULL
        RLD                     ; leaves carry alone
        RET
..FULL: MVI M,0                 ; this digit starts over
        DCX H                   ; the next digit
        RET

; ROW1 - starts at the first row of the space.
ROW1:   LDA SPACE
        MOV E,A
        ADD A                   ; twice
        ADD E                   ; entries have three bytes
        MOV E,A
        MVI D,0
        LXI X,SPACES            ; an entry: address of the rows, how many
        DADX D
        MOV A,2(X)              ; rows of the space
        STA ROWS
        MOV E,0(X)
        MOV D,1(X)
        PUSH D
        POP X                   ; IX = the first row
        RET

; SETROW - fills the queen's and the king's slot after the row IX.
SETROW: LXI H,WORK+QUEEN
        MOV A,ROW.Q(X)
        MOV M,A
        INX H
        LDA KINGS
        MOV M,A
        MOV A,ROW.K(X)
        ORA A
        RZ                      ; no piece behind the queen
        RLD                     ; low, and the king goes up
        RET

; EMIT - counts the pieces in WORK and adds it to the table.
EMIT:   LXI H,WORK+PAWN
        LXI B,600H              ; B slots, C pieces
..SLOT: MOV A,M
        ANI 0FH
        JRZ ..HIGH              ; low half empty
        INR C
..HIGH: MOV A,M
        ANI 0F0H
        JRZ ..NEXT              ; nor in the high one
        INR C
..NEXT: INX H
        DJNZ ..SLOT
        LXI H,WORK
        MOV M,C                 ; the count comes first
        LDED TOP                ; after the last section
        MVI C,SECTN             ; B is 0 after the loop
        LDIR
        SDED TOP
        RET

; SECADR - finds a section in the table.
;   Entry:    HL = number of the section
;   Exit:     HL = address of its seven bytes, carry clear
;   Errors:   carry set: the space has no such section
;   Clobbers: AF, DE
;   Stack:    0 bytes
;   Cycles:   26..165
SECADR: MOV A,H
        CPI SECMAX/256+1        ; far above the largest number
        CMC
        RC
        MOV D,H                 ; DE = HL, the number
        MOV E,L
        DAD H                   ; doubled three times
        DAD H
        DAD H                   ; eight times
        ORA A
        DSBC D                  ; times SECTN
        LXI D,SECTAB
        DAD D
        LDED TOP
        ORA A
        DSBC D                  ; beyond the last section?
        DAD D                   ; as before; carry is set when there was a borrow
        CMC
        RET

; SECNXT - advances to the next section, after the last to the first.
;   Entry:    HL = where the address of a section is stored
;   Exit:     the next section's is stored there; Z set when that is the first again
;   Errors:   none
;   Clobbers: AF, DE, HL
;   Stack:    2 bytes
;   Cycles:   136..156
SECNXT: PUSH H
        MOV E,M                 ; the address is stored low byte first
        INX H
        MOV D,M
        LXI H,SECTN
        DAD D                   ; seven bytes on
        LDED TOP
        MOV A,L
        CMP E                   ; after the last one?
        JRNZ ..SET
        MOV A,H
        CMP D
        JRNZ ..SET
        LXI H,SECTAB            ; round to the first, with Z still set
..SET:  XCHG
        POP H
        MOV M,E
        INX H
        MOV M,D
        RET
        .END
