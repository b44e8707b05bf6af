; The ROM under a stand-in: what programs may call of a stock monitor, served by polling a 68B50 at 80H and 81H.
; RST 08H sends A, RST 10H receives into A, RST 18H tells by NZ that a character waits (Searle's and feilipu's BASIC).
; RST 30H with C = 02H sends A (Small Computer Monitor).

        .IDENT  STANDI
        .LOC    0
        JMP     START
        .LOC    08H
        JMP     SEND
        .LOC    10H
        JMP     RECV
        .LOC    18H
        IN      80H
        ANI     1               ; RDRF
        RET
        .LOC    30H
        JMP     API

        .LOC    40H
ENTRY:: .WORD   0               ; where the program is entered; filled in
STACK:: .WORD   0               ; its stack; filled in

START:  MVI     A,3             ; reset; then 8N1, clock / 64
        OUT     80H
        MVI     A,16H
        OUT     80H
        LHLD    STACK
        SPHL
        LXI     H,BACK
        PUSH    H
        LHLD    ENTRY
        PCHL
BACK:   DI
        HLT

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

; API - function 02H sends A; the others do nothing.
;   Entry:    C function, A
;   Exit:     -
;   Errors:   none
;   Clobbers: BF
;   Stack:    6
;   Cycles:   waits for the line
API:    MOV     B,A
        MOV     A,C
        CPI     2
        MOV     A,B
        JRZ     SEND
        RET
        .END
