; Sends the CRC-16 (XMODEM's) of memory in four digits, CR and LF, and returns to the Small Computer
; Monitor. The host appends length and address of each range to the code, and the length 0. The
; assembler defines START, the load address.

        .IDENT  CHKSUM
        .LOC    START
        LXI     D,0             ; the CRC
        LXI     H,TAIL
..NEXT: MOV     C,M
        INX     H
        MOV     B,M
        INX     H
        MOV     A,B
        ORA     C
        JRZ     ..SHOW
        MOV     A,M
        INX     H
        PUSH    H
        MOV     H,M
        MOV     L,A

; With T = high byte XOR the byte of memory, and T = T XOR T / 16, the next CRC is
; (low byte * 256) XOR (T * 4096) XOR (T * 32) XOR T.
..BYTE: MOV     A,D
        XRA     M
        INX     H
        MOV     D,A
        RRC
        RRC
        RRC
        RRC
        ANI     0FH
        XRA     D
        MOV     D,A             ; T
        RLC
        RLC
        RLC
        RLC
        ANI     0F0H
        XRA     E
        MOV     E,A
        MOV     A,D
        RRC
        RRC
        RRC
        ANI     1FH
        XRA     E
        MOV     E,A             ; the high byte
        MOV     A,D
        RRC
        RRC
        RRC
        ANI     0E0H
        XRA     D
        MOV     D,E
        MOV     E,A
        DCX     B
        MOV     A,B
        ORA     C
        JRNZ    ..BYTE
        POP     H
        INX     H
        JMPR    ..NEXT

..SHOW: MOV     A,D
        CALL    PUTHEX
        MOV     A,E
        CALL    PUTHEX
        MVI     A,13
        CALL    PUT
        MVI     A,10
        JMPR    PUT

        .INSERT puthex.asm

; PUT - sends a character through the monitor.
;   Entry:    A = the character
;   Exit:     -
;   Errors:   none
;   Clobbers: AF
;   Stack:    4, plus that of the monitor's RST 08H
;   Cycles:   waits for the line
PUT:    PUSH    D
        RST     1
        POP     D
        RET
TAIL::
ROOM::
        .END
