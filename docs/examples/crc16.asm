; CRC-16/IBM-3740: polynomial 1021H, start value FFFFH, high bit first.

        .IDENT CRC16
        .INTERN CRC16,TEXT

; CRC16 - computes the check of a stretch of memory, bit by bit.
;   Entry:    HL = first byte; BC = count, 0 too
;   Exit:     DE = check; HL = after the last byte; BC = 0
;   Errors:   none
;   Clobbers: AF
;   Stack:    2 bytes
;   Cycles:   29..41090474: 29, and 427 to 627 a byte
CRC16:  LXI     D,0FFFFH
..NEXT: MOV     A,B
        ORA     C
        RZ
        DCX     B
        MOV     A,M
        INX     H
        XRA     D
        MOV     D,A
        PUSH    B
        MVI     B,8
..BIT:  XCHG                    ; DAD shifts HL only
        DAD     H
        XCHG
        JRNC    ..EVEN
        MOV     A,D
        XRI     10H
        MOV     D,A
        MOV     A,E
        XRI     21H
        MOV     E,A
..EVEN: DJNZ    ..BIT
        POP     B
        JMPR    ..NEXT

        .LOC    .DATA.
TEXT:   .BLKB   256
        .END
