; The ROM under a stand-in: what programs may call of a stock monitor, served by polling a 68B50 at
; 80H and 81H, or with Z180 the ASCI, whose registers are as the monitor left them. RST 08H sends A,
; RST 10H receives into A, RST 18H sets NZ if a character waits (Searle's and feilipu's BASIC). RST
; 30H with C = 02H sends A, with C = 06H the text at DE that ends with 0 (Small Computer Monitor).
; Where HBIOS is set (RomWBW) RST 08H with B = 01H sends E, with B = F0H it restarts the system.
; CALL 5 with C = 02H sends E, with C = 09H the text at DE that ends with '$' (CP/M). A jump to
; 0000H and RST 28H end the program.

        .IDENT  STANDI
        .IFN Z180,[
RDRF    == 80H
        .DEFINE STATUS[]=[
        .BYTE   0EDH,38H,0C4H   ; IN0 A,(STAT0)
]
        .DEFINE RECEIV[]=[
        .BYTE   0EDH,38H,0C8H   ; IN0 A,(RDR0)
]
        .DEFINE TRANSM[]=[
        .BYTE   0EDH,39H,0C6H   ; OUT0 (TDR0),A
]
        ][
RDRF    == 1
        .DEFINE STATUS[]=[
        IN      80H
]
        .DEFINE RECEIV[]=[
        IN      81H
]
        .DEFINE TRANSM[]=[
        OUT     81H
]
        ]
TDRE    == 2

        .LOC    0
        JMP     RESTRT
        .LOC    05H
        JMP     BDOS
        .LOC    08H
        JMP     RST08
        .LOC    10H
        JMP     RECV
        .LOC    18H
        STATUS
        ANI     RDRF
        RET
        .LOC    28H
        JMP     TRAPPD
        .LOC    30H
        JMP     API

        .LOC    40H
ENTRY:: .WORD   0               ; where the program is entered; filled in
STACK:: .WORD   0               ; its stack; filled in
HBIOS:: .WORD   0               ; whether RST 08H is HBIOS; filled in

START:: LHLD    STACK
        SPHL
        .IFN Z180,[
        LDA     HBIOS           ; Small Computer Monitor: any I, interrupts off
        ORA     A
        MVI     A,99H
        JRZ     ..I
        MVI     A,0FFH          ; RomWBW: its table of vectors, interrupts on
        EI
..I:    STAI
        ][
        MVI     A,3             ; reset; then 8N1, clock / 64
        OUT     80H
        MVI     A,16H
        OUT     80H
        ]
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
..WAIT: STATUS
        ANI     TDRE
        JRZ     ..WAIT
        POP     PSW
        TRANSM
        RET

; RECV - waits for a character.
;   Entry:    -
;   Exit:     A the character
;   Errors:   none
;   Clobbers: F
;   Stack:    2
;   Cycles:   waits for the line
RECV:   STATUS
        ANI     RDRF
        JRZ     RECV
        RECEIV
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
