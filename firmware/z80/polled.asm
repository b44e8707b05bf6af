; The debug kernel's line: frames to and from the host, one at a time. It polls the serial chip,
; with interrupts off and without a ring, since the kernel may stop an interrupt handler.

        .IDENT POLLED
        .INTERN POLL,QUIET,GETK,PUTK,R.LEN,R.SEQ,R.TYPE,R.DATA,P.DATA
        .EXTERN CRC16
        .INSERT wire.asm
        .INSERT cobs.asm
        .IFN Z180,[
        .INSERT z180.asm
POLLS   == 64H                  ; CNTLA0: receiver and transmitter on, RTS low, errors cleared
ERRORS  == 0E0H                 ; of STAT0, turned left by one
        ]
        .IFN IS550,[
        .INSERT ns550r.asm
        ]

POLLED  == 16H                  ; control register of the 68B50: no interrupt, RTS low
TXOFF   == 28H                  ; command of the SIO: takes back the transmitter's interrupt

        .LOC .DATA.
REQ:                            ; the request
R.LEN:  .BLKB 1
R.SEQ:  .BLKB 1
R.TYPE: .BLKB 1
R.DATA: .BLKB MAXPAY+5
RPL:                            ; the reply
P.LEN:  .BLKB 1
P.SEQ:  .BLKB 1
P.TYPE: .BLKB 1
P.DATA: .BLKB MAXPAY+3

        .LOC .PROG.
; POLL - takes the chip from the monitor, whose handler has lost its memory: it interrupts only if
; the program enables that.
;   Entry:    interrupts off
;   Exit:     GETK and PUTK can be called
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   68B50: 28; SIO: 61; 16C550: 43; Z180: 47
POLL:
        .IFN Z180,[
        SETCHP UARTC,0
        SETCHP CNTLA0,POLLS
        ][
        .IFN IS550,[
        XRA A
        OUT IER
        MVI A,LISTEN
        OUT MCR
        ][
        .IFE ISSIO,[
        MVI A,POLLED
        OUT UARTC
        ][
        MVI A,TXOFF
        OUT UARTC
        MVI A,1                 ; write register 1: which events interrupt
        OUT UARTC
        XRA A
        OUT UARTC
        ]
        ]
        ]
        RET

; QUIET - waits until the last characters have left the chip.
;   Entry:    nothing
;   Exit:     the line is quiet
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   15 and 26 for each of QUIETN; Z180: 20
QUIET:  LXI H,QUIETN            ; three characters at the board's slowest speed
..WAIT: DCX H
        MOV A,H
        ORA L
        JRNZ ..WAIT
        RET

; GETK - waits for the next good frame; others are dropped, and the host retries.
;   Entry:    interrupts off
;   Exit:     REQ = the frame
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    4 bytes
;   Cycles:   as long as it takes
GETK:   CALL TAKE
        ORA A
        JRNZ GETK
..OPEN: CALL TAKE
        ORA A
        JRZ ..OPEN
        LXI H,REQ
        MVI B,MAXENC            ; room for bytes, one more than a frame can have
        DECODE (CALL TAKE),..OPEN,(JMPR GETK),GETK
        MVI A,MAXENC
        SUB B
        MOV B,A                 ; bytes of the frame
        LDA R.LEN
        ADI BODY
        JRC ..OPEN
        CMP B
        JRNZ ..OPEN             ; LEN is not the actual length
        SUI 2
        MOV C,A
        MVI B,0
        LXI H,REQ
        CALL CRC16
        MOV A,M
        CMP E
        JRNZ ..OPEN
        INX H
        MOV A,M
        CMP D
        JRNZ ..OPEN
        RET

; PUTK - sends a frame under the request's SEQ.
;   Entry:    A = its type; C = bytes at P.DATA
;   Exit:     it is sent, but for what is in the chip
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    6 bytes
;   Cycles:   as long as the line takes
PUTK:   STA P.TYPE
        LDA R.SEQ
        STA P.SEQ
        MOV A,C
        STA P.LEN
        ADI 3
        MOV C,A
        MVI B,0
        LXI H,RPL
        PUSH B
        CALL CRC16
        POP B
        MOV M,E
        INX H
        MOV M,D
        INX H
        MVI M,0                 ; ends the last group
        MOV A,C
        ADI 3                   ; the check and that zero
        MOV B,A
        XRA A
        CALL GIVE
        LXI H,RPL
..GRP:  PUSH H
        MVI C,0
..LOOK: INR C                   ; one more than the bytes before the zero
        MOV A,M
        INX H
        ORA A
        JRNZ ..LOOK
        MOV A,C
        CALL GIVE
        POP H
..BYTE: DCR B
        MOV A,M
        INX H
        ORA A
        JRZ ..ZERO
        CALL GIVE
        JMPR ..BYTE
..ZERO: ORA B                   ; A is 0
        JRNZ ..GRP              ; falls into GIVE with A = 0

        .INSERT send.asm

; TAKE - waits for a character.
;   Entry:    interrupts off
;   Exit:     A = the character
;   Errors:   none
;   Clobbers: F
;   Stack:    0 bytes
;   Cycles:   as long as it takes
        .IFN Z180,[
TAKE:   INCHIP UARTC
        RLC                     ; bit 7: a character is there
        JRC ..READ
        ANI ERRORS
        JRZ TAKE
        SETCHP CNTLA0,POLLS    ; an overrun may have stopped reception
        JMPR TAKE
..READ: INCHIP UARTD
        ][
TAKE:   IN UARTC
        RRC                     ; bit 0 of all chips
        JRNC TAKE
        IN UARTD
        ]
        RET
        .END
