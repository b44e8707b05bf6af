; hello.asm - prints a greeting, and echoes each key that is typed; Escape ends it.

STATUS  ==      80H             ; control port of the 68B50
DATA    ==      81H             ; and its data port
ESC     ==      1BH

        .LOC    8000H           ; code from here on is at fixed addresses
START:  LXI     SP,0FF00H
        LXI     H,TEXT
..NEXT: MOV     A,M             ; M is the byte that HL points to
        ORA     A
        JRZ     ECHO
        CALL    SEND
        INX     H
        JMPR    ..NEXT

ECHO:   IN      STATUS
        ANI     1               ; has a character come?
        JRZ     ECHO
        IN      DATA
        CPI     ESC
        JZ      0               ; back to what is in the ROM
        CALL    SEND
        JMPR    ECHO

; SEND - waits until the board can send, and sends what is in A.
SEND:   PUSH    PSW
..WAIT: IN      STATUS
        ANI     2
        JRZ     ..WAIT
        POP     PSW
        OUT     DATA
        RET

TEXT:   .ASCII  "HELLO FROM THE Z80"
        .BYTE   0DH,0AH,0
        .END    START
