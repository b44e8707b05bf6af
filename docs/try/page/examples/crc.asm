; crc.asm - prints the CRC-16 (XMODEM) of a text: 31C3 for 123456789. crc.test.toml tests it.

STATUS  ==      80H             ; control port of the 68B50
DATA    ==      81H             ; and its data port

        .LOC    8000H
START:  LXI     SP,0FF00H
        LXI     H,TEXT
        MVI     B,LENGTH
        CALL    CRC
        MOV     A,D
        CALL    BYTE
        MOV     A,E
        CALL    BYTE
        JMP     0               ; back to what is in the ROM

; CRC - returns in DE the CRC-16 of B bytes at HL: polynomial 1021H, from 0.
CRC:    LXI     D,0
..BYTE: MOV     A,M
        XRA     D               ; the byte goes in at the top
        MOV     D,A
        MVI     C,8
..BIT:  XCHG
        DAD     H               ; the bit that leaves goes to the carry
        XCHG
        JRNC    ..NONE
        MOV     A,E
        XRI     21H
        MOV     E,A
        MOV     A,D
        XRI     10H
        MOV     D,A
..NONE: DCR     C
        JRNZ    ..BIT
        INX     H
        DJNZ    ..BYTE
        RET

; BYTE - prints A as two hexadecimal digits.
BYTE:   PUSH    PSW
        RRC
        RRC
        RRC
        RRC
        CALL    ..HALF
        POP     PSW
..HALF: ANI     0FH
        ADI     90H
        DAA
        ACI     40H
        DAA

; SEND - waits until the board can send, and sends what is in A.
SEND:   PUSH    PSW
..WAIT: IN      STATUS
        ANI     2
        JRZ     ..WAIT
        POP     PSW
        OUT     DATA
        RET

TEXT:   .ASCII  "123456789"
LENGTH  ==      .-TEXT
        .END    START
