; Sending by polling, inserted by what needs no driver.

B.SENT  == 2+2*ISSIO+30*IS550   ; status: the transmitter is empty

; GIVE - sends a character as soon as the chip takes it.
;   Entry:    A = the character
;   Exit:     A as it was
;   Errors:   none
;   Clobbers: nothing
;   Stack:    2 bytes
;   Cycles:   as long as the line takes
GIVE:   PUSH PSW
        .IFN Z180,[
..WAIT: INCHIP UARTC
        ANI B.SENT
        JRZ ..WAIT
        POP PSW
        OUTCHP TDR0
        ][
..WAIT: IN UARTC
        ANI B.SENT
        JRZ ..WAIT
        POP PSW
        OUT UARTD
        ]
        RET
