; Flow control by a register of the serial chip, inserted by drivers. A driver defines HOLD and
; RESUME, values of that register, the macro CONTRL, which sets it to A, and ISSET, its copy.

; HOLDUP - stops the host by RTS.
;   Entry:    interrupts off
;   Exit:     RTS is high
;   Errors:   none
;   Clobbers: A
;   Stack:    0 bytes
;   Cycles:   41
HOLDUP: MVI A,HOLD              ; falls into SETCTL

; SETCTL - sets the register to A.
SETCTL: STA ISSET
        CONTRL
        RET

; LETGO - resumes the host if it was stopped.
;   Entry:    interrupts off
;   Exit:     RTS is low
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   31..78; Z180: 28..72
LETGO:  LDA ISSET
        CPI HOLD                ; is the host stopped?
        RNZ
        MVI A,RESUME
        JMPR SETCTL
