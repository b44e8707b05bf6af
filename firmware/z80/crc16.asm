; CRC-16/IBM-3740: polynomial 1021H, start FFFFH, no reflection, no final exclusive or.

        .IDENT CRC16
        .INTERN CRC16

; CRC16 - computes the check of a stretch of memory.
;   Eight steps of the polynomial at once: with x the high byte of the check combined with the
;   data, and x combined with its own high half, the new check is the low byte moved up, combined
;   with x * 1021H.
;   Entry:    HL = first byte; BC = count, not 0
;   Exit:     DE = check; HL = just past the last byte; BC = 0
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   20 + 174 a byte
CRC16:  LXI D,0FFFFH
..BYTE: MOV A,D
        XRA M
        MOV D,A
        RRC
        RRC
        RRC
        RRC
        ANI 0FH
        XRA D
        MOV D,A                 ; x
        RRC
        RRC
        RRC
        ANI 1FH
        XRA E
        MOV E,A                 ; low byte of the check with x > 3
        MOV A,D
        RLC
        RLC
        RLC
        RLC
        ANI 0F0H
        XRA E
        MOV E,A                 ; and with x < 4: the new high byte
        MOV A,D
        RRC
        RRC
        RRC
        ANI 0E0H
        XRA D                   ; x < 5 with x: the new low byte
        MOV D,E
        MOV E,A
        INX H
        DCX B
        MOV A,B
        ORA C
        JRNZ ..BYTE
        RET
        .END
