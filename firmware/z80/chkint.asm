; Inserted into programs that call code which may leave interrupts off; they count in OFFS.

; CHKINT - for what has called the evaluator: counts if interrupts are off or register I is another
; one, and puts both right. Without that the receiver would lose bytes.
;   Entry:    not in the first 256 bytes of memory
;   Exit:     interrupts on
;   Errors:   none
;   Clobbers: nothing
;   Stack:    4 bytes
;   Cycles:   89..204
CHKINT: PUSH PSW
        XRA A
        PUSH PSW                ; 0 below the stack, where an interrupt stores its return address
        POP PSW
        LDAI                    ; P/V: interrupts are on
        JPE ..ON
        DCX SP                  ; P/V is clear, too, if one came just then (Zilog's CPU manual)
        DCX SP
        POP PSW
        ORA A
        JRZ ..BAD               ; none came
        LDAI
..ON:   CPI IMPAGE
        JRNZ ..BAD
        POP PSW
        RET
..BAD:  DI
        PUSH H
        LHLD OFFS
        INX H
        SHLD OFFS
        POP H
        MVI A,IMPAGE
        STAI
        IM2                     ; the mode can't be read
        POP PSW
        EI
        RET
