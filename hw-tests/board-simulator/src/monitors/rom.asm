; The ROM under a stand-in: what programs may call of a stock monitor, served by polling a 68B50 at
; 80H and 81H. RST 08H sends A, RST 10H receives into A, RST 18H sets NZ if a character waits
; (Searle's and feilipu's BASIC). RST 30H with C = 02H sends A, with C = 06H the text at DE that
; ends with 0 (Small Computer Monitor). Where HBIOS is set (RomWBW) RST 08H with B = 01H sends E,
; with B = F0H it restarts the system.
; CALL 5 with C = 02H sends E, with C = 09H the text at DE that ends with '$' (CP/M). A jump to
; 0000H and RST 28H end the program.

        .IDENT  STANDI
        .LOC    0
        JMP     RESTRT
        .LOC    05H
        JMP     BDOS
        .LOC    08H
        JMP     RST08
        .LOC    10H
        JMP     RECV
        .LOC    18H
        IN      80H
        ANI     1               ; RDRF
        RET
        .LOC    28H
        JMP     TRAPPD
        .LOC    30H
        JMP     API

        .LOC    40H
ENTRY:: .WORD   0               ; where the program is entered; filled in
STACK:: .WORD   0               ; its stack; filled in
HBIOS:: .WORD   0               ; whether RST 08H is HBIOS; filled in

START:: MVI     A,3             ; reset; then 8N1, clock / 64
        OUT     80H
        MVI     A,16H
        OUT     80H
        LHLD    STACK
        SPHL
        LXI     H,BACK
        PUSH    H
        LHLD    ENTRY
        PCHL
        ; three ends, distinguished by the address of their HLT
BACK::  DI
        HLT
        NOP
RESTRT::DI
        HLT
        NOP
TRAPPD::DI
        HLT
        NOP

; RST08 - sends A for BASIC; for HBIOS sends E if B is 01H, and leaves C as a unit's number; if B is
; F0H, ends the program as a jump to 0000H does.
;   Entry:    A, or B and E
;   Exit:     C for HBIOS
;   Errors:   none
;   Clobbers: F; A for HBIOS
;   Stack:    6
;   Cycles:   waits for the line
RST08:  PUSH    PSW
        LDA     HBIOS
        ORA     A
        JRNZ    ..HB
        POP     PSW
        JMP     SEND
..HB:   POP     PSW
        MOV     A,B
        CPI     0F0H
        JZ      RESTRT
        CPI     1
        RNZ
        MOV     A,E
        MVI     C,81H
        JMP     SEND

; BDOS - functions 02H and 09H of CP/M; the others do nothing.
;   Entry:    C function; E or DE
;   Exit:     -
;   Errors:   none
;   Clobbers: AF, DE
;   Stack:    6
;   Cycles:   waits for the line
BDOS:   MOV     A,C
        CPI     9
        JRZ     ..TEXT
        CPI     2
        RNZ
        MOV     A,E
        JMP     SEND
..TEXT: LDAX    D
        CPI     '$'
        RZ
        CALL    SEND
        INX     D
        JMPR    ..TEXT

; SEND - sends A.
;   Entry:    A
;   Exit:     -
;   Errors:   none
;   Clobbers: F
;   Stack:    4
;   Cycles:   waits for the line
SEND:   PUSH    PSW
..WAIT: IN      80H
        ANI     2               ; TDRE
        JRZ     ..WAIT
        POP     PSW
        OUT     81H
        RET

; RECV - waits for a character.
;   Entry:    -
;   Exit:     A the character
;   Errors:   none
;   Clobbers: F
;   Stack:    2
;   Cycles:   waits for the line
RECV:   IN      80H
        RRC                     ; RDRF
        JRNC    RECV
        IN      81H
        RET

; API - function 02H sends A, 06H the text at DE; the others do nothing.
;   Entry:    C function; A or DE
;   Exit:     -
;   Errors:   none
;   Clobbers: AF, B, DE
;   Stack:    6
;   Cycles:   waits for the line
API:    MOV     B,A
        MOV     A,C
        CPI     6
        JRZ     ..TEXT
        CPI     2
        MOV     A,B
        JZ      SEND
        RET
..TEXT: LDAX    D
        ORA     A
        RZ
        CALL    SEND
        INX     D
        JMPR    ..TEXT
        .END
