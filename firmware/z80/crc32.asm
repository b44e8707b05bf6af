; CRC-32/ISO-HDLC, that of zlib: polynomial 04C11DB7H reflected, start and final exclusive or
; FFFFFFFFH.

        .IDENT CRC32
        .INTERN CRC32,CRCINI,CRCTAB,CHECK,FLIP

; The table must start at a multiple of 256: the layout aligns it.
        .LOC .DATA.
; For each byte its check: a page for each byte of it, the lowest first.
CRCTAB: .BLKB 4*256
CHECK:  .BLKB 4                 ; the check so far, complemented, the lowest byte first

        .LOC .PROG.
; CRCINI - makes the table that CRC32 looks into.
;   Entry:    nothing
;   Exit:     done
;   Errors:   none
;   Clobbers: AF, BC, DE, HL, AF'
;   Stack:    0 bytes
;   Cycles:   218127
CRCINI: LXI H,CRCTAB            ; L is the byte
..BYTE: LXI D,0                 ; the check is D E B C
        MOV B,D
        MOV C,L                 ; the byte is the lowest of four
        MVI A,8                 ; bits
..BIT:  EXAF                    ; A counts in the other set
        SRLR D                  ; the lowest bit comes out first
        RARR E
        RARR B
        RARR C
        JRNC ..NEXT             ; it was 0
        MOV A,D
        XRI 0EDH                ; the polynomial is EDB88320H, bits reversed
        MOV D,A
        MOV A,E
        XRI 0B8H
        MOV E,A
        MOV A,B
        XRI 83H
        MOV B,A
        MOV A,C
        XRI 20H
        MOV C,A
..NEXT: EXAF
        DCR A
        JRNZ ..BIT
        MOV M,C                 ; a page for each byte of the check
        INR H
        MOV M,B
        INR H
        MOV M,E
        INR H
        MOV M,D
        DCR H
        DCR H
        DCR H
        INR L
        JRNZ ..BYTE             ; L round to 0: all 256
        RET

; CRC32 - takes a stretch of memory into the check.
;   Entry:    HL = first byte; B = count, 0 for 256; CHECK = check so far, complemented; CRCINI has
;             made the table
;   Exit:     CHECK includes the bytes; HL = after the last; B = 0
;   Errors:   none
;   Clobbers: AF, BC, DE, HL of both sets
;   Stack:    0 bytes
;   Cycles:   213..30813: 93 and 120 a byte
CRC32:  EXX
        LHLD CHECK              ; the lower half; DE' the upper one
        LDED CHECK+2
        EXX
..BYTE: MOV A,M                 ; A goes across: EXX leaves it
        INX H
        EXX
        XRA L                   ; the lowest byte and the new one
        LXI B,CRCTAB
        MOV C,A                 ; the entry of the lowest byte and the new one
        LDAX B                  ; the entry, byte by byte
        XRA H                   ; shifted down by a byte, then combined
        MOV L,A
        INR B                   ; each byte of an entry has its own page
        LDAX B
        XRA E
        MOV H,A
        INR B
        LDAX B
        XRA D
        MOV E,A
        INR B
        LDAX B
        MOV D,A
        EXX
        DJNZ ..BYTE
        EXX
        SHLD CHECK
        SDED CHECK+2
        EXX
        RET

; FLIP - copies four bytes, complemented: between CHECK and the CRC as it is transmitted.
;   Entry:    HL = the bytes; DE = where they go
;   Exit:     HL and DE = after them; B = 0
;   Errors:   none
;   Clobbers: AF, B, DE, HL
;   Stack:    0 bytes
;   Cycles:   184
FLIP:   MVI B,4
..NEXT: MOV A,M
        CMA                     ; CHECK is stored complemented
        STAX D
        INX H
        INX D
        DJNZ ..NEXT
        RET
        .END
