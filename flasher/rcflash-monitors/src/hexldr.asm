; The hex loader that rcflash types into ROM BASIC. It executes lines of Intel HEX one by one and
; replies to each.
;
; At its start it sends '=', its stack pointer in four digits, and ':'. Then, for each line:
;   type 00  stores the bytes                                     '+'
;   type 01  starts the program at the address, or returns to     '+', then output of BASIC
;            BASIC if the address is 0
;   type 02  sends memory from the address; its one data byte     '>', two digits a byte,
;            is the number of bytes (0 for 256)                   two digits of their sum, '+'
; The reply to a corrupted line is '-', and the line is not executed. A colon always begins a new
; line. The assembler defines START, the load address.

        .IDENT  HEXLDR
MOST    ==      32              ; data bytes of a line

        .LOC    START
ENTER:: SSPD    SAVED
        MVI     A,'='
        CALL    PUT
        LXI     H,0
        DAD     SP
        MOV     A,H
        CALL    PUTHEX
        MOV     A,L
        CALL    PUTHEX
        MVI     A,':'
        CALL    PUT
NEXT:   CALL    GET
        CPI     ':'
        JRNZ    NEXT

; LINE - receives a line after its colon, checks and executes it.
LINE:   LSPD    SAVED
        LXI     H,BUFFER
        MVI     C,0             ; sum of the line
        CALL    GETHEX
        CPI     MOST+1
        JRNC    BAD
        MOV     M,A
        ADI     4               ; address, type and checksum
        MOV     B,A
..BYTE: CALL    GETHEX
        INX     H
        MOV     M,A
        DJNZ    ..BYTE
        MOV     A,C
        ORA     A
        JRNZ    BAD
        LXI     H,BUFFER
        MOV     B,M
        INX     H
        MOV     D,M
        INX     H
        MOV     E,M             ; the address
        INX     H
        MOV     A,M             ; the type
        INX     H
        DCR     A
        JRZ     GO
        DCR     A
        JRZ     SHOW
        INR     A
        INR     A
        JRNZ    BAD
        ORA     B
        JRZ     GOOD
..NEXT: MOV     A,M
        STAX    D
        INX     H
        INX     D
        DJNZ    ..NEXT
GOOD:   MVI     A,'+'
ANSWER: CALL    PUT
        JMPR    NEXT

BAD:    LSPD    SAVED
        MVI     A,'-'
        JMPR    ANSWER

; GO - type 01: jumps to the program, which returns to BASIC, or returns to BASIC.
GO:     MVI     A,'+'
        CALL    PUT
        XCHG
        MOV     A,H
        ORA     L
        RZ
        PCHL

; SHOW - type 02: sends memory in digits, and their sum.
SHOW:   MVI     A,'>'
        CALL    PUT
        MOV     B,M
        XCHG
        MVI     C,0
..BYTE: MOV     A,M
        INX     H
        PUSH    PSW
        ADD     C
        MOV     C,A
        POP     PSW
        CALL    PUTHEX
        DJNZ    ..BYTE
        MOV     A,C
        CALL    PUTHEX
        JMPR    GOOD

; GETHEX - receives a byte as two digits.
;   Entry:    C = sum so far
;   Exit:     A = the byte; C = the sum with it
;   Errors:   to LINE at a colon, to BAD at anything but a digit
;   Clobbers: EF
;   Stack:    14, plus that of BASIC's RST 10H
;   Cycles:   waits for the line
GETHEX: CALL    DIGIT
        RLC
        RLC
        RLC
        RLC
        MOV     E,A
        CALL    DIGIT
        ORA     E
        MOV     E,A
        ADD     C
        MOV     C,A
        MOV     A,E
        RET

; DIGIT - receives a hexadecimal digit, capital.
;   Entry:    -
;   Exit:     A = its value
;   Errors:   as GETHEX
;   Clobbers: F
;   Stack:    10, plus that of BASIC's RST 10H
;   Cycles:   waits for the line
DIGIT:  CALL    GET
        CPI     ':'
        JZ      LINE
        SUI     '0'
        JRC     BAD
        CPI     10
        RC
        SUI     'A'-'0'-10
        CPI     10
        JRC     BAD
        CPI     16
        RC
        JMPR    BAD

        .INSERT puthex.asm

; PUT - sends a character through BASIC.
;   Entry:    A = the character
;   Exit:     -
;   Errors:   none
;   Clobbers: AF
;   Stack:    8, plus that of BASIC's RST 08H
;   Cycles:   waits for the line
PUT:    PUSH    B
        PUSH    D
        PUSH    H
        RST     1
        JMPR    BACK

; GET - receives a character through BASIC.
;   Entry:    -
;   Exit:     A = the character
;   Errors:   none
;   Clobbers: F
;   Stack:    8, plus that of BASIC's RST 10H
;   Cycles:   waits for the line
GET:    PUSH    B
        PUSH    D
        PUSH    H
        RST     2
BACK:   POP     H
        POP     D
        POP     B
        RET

TAIL::                          ; end of the bytes to load
SAVED:  .BLKB   2               ; the stack pointer at the start
BUFFER: .BLKB   MOST+5
ROOM::                          ; end of its memory
        .END
