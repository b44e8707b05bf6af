; Digits for routines on stock monitors: inserted before PUT, which sends A.

; PUTHEX - sends a byte as two digits.
;   Entry:    A = the byte
;   Exit:     -
;   Errors:   none
;   Clobbers: AF
;   Stack:    6, plus that of PUT
;   Cycles:   waits for the line
PUTHEX: PUSH    PSW
        RRC
        RRC
        RRC
        RRC
        CALL    PUTDIG
        POP     PSW
PUTDIG: ANI     0FH
        ADI     90H             ; 0 to 9 give 90H to 99H, A to F a carry into the next step
        DAA
        ACI     40H
        DAA
