; Prints by the BDOS of CP/M. There, link it with a module that has BDOS ==: 5.

        .IDENT DECIM
        .INTERN PRDEC,GREET
        .EXTERN BDOS

PRINT   ==      2               ; functions: a character in E,
TEXT    ==      9               ; a text at DE up to $,
READ    ==      10              ; read a line to DE

; PRDEC - prints a number in decimal.
;   Entry:    HL = number
;   Exit:     nothing
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
PRDEC:  LXI     B,-10
        LXI     D,-1
..DIV:  INX     D
        DAD     B
        JRC     ..DIV
        LXI     B,10
        DAD     B               ; the remainder is the last digit
        PUSH    H
        XCHG
        MOV     A,H
        ORA     L
        CNZ     PRDEC           ; the digits before it
        POP     H
        MOV     A,L
        ADI     '0'
        MOV     E,A
        MVI     C,PRINT
        JMP     BDOS

; GREET - asks for a name, and greets it.
;   Entry:    nothing
;   Exit:     nothing
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
GREET:  LXI     D,ASK
        MVI     C,TEXT
        CALL    BDOS
        LXI     D,ROOM
        MVI     C,READ
        CALL    BDOS
        LXI     D,HELLO
        MVI     C,TEXT
        CALL    BDOS
        LXI     H,ROOM+1        ; the length, then the name
        MOV     B,M
..NEXT: MOV     A,B
        ORA     A
        RZ
        DCR     B
        INX     H
        MOV     E,M
        PUSH    B               ; the BDOS keeps no register
        PUSH    H
        MVI     C,PRINT
        CALL    BDOS
        POP     H
        POP     B
        JMPR    ..NEXT

        .LOC    .DATA.
ASK:    .ASCII  'Who? $'
HELLO:  .ASCII  [10]'Hello, $'
ROOM:   .BYTE   8
        .BLKB   9
        .END
