; Waiting for a transmitter that RTS does not stop, inserted by drivers. A driver defines the macro
; STATUS, which reads a status into A, and QUIET, its bit that is set when the chip has sent all.

; TXREST - waits until the next interrupt.
;   Entry:    the transmit ring is not empty; interrupts off
;   Exit:     interrupts on
;   Errors:   none
;   Clobbers: F
;   Stack:    2 bytes
;   Cycles:   as long as it takes
TXREST: JMP IDLE

; UDRAIN - waits until everything has left the transmit ring and the chip.
;   Entry:    interrupts on
;   Exit:     the line is quiet
;   Errors:   none
;   Clobbers: AF
;   Stack:    2 bytes
;   Cycles:   up to 165000; Z180: up to 450000
UDRAIN: PUSH H
..WAIT: DI
        LHLD TXOUT
        LDA TXIN
        SUB L                   ; 0 when the ring is empty
        MOV L,A
        STATUS
        EI
        CMA                     ; clear when the chip has sent all
        ANI QUIET
        ORA L                   ; and the ring
        JRNZ ..WAIT
        .IFN Z180,[
        LXI H,1000              ; the shift register has no bit: a character of 9600 baud
..LAST: DCX H
        MOV A,H
        ORA L
        JRNZ ..LAST
        ]
        POP H
        RET
