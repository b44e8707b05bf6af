; Empties the attackers array.

        .IDENT NEWLST
        .INTERN NEWLST
        .EXTERN ATKLST,ENDLST
        .INSERT sargon.asm

; NEWLST - empties the attackers array and puts the fence where walks along it end.
;   Entry:    nothing
;   Exit:     the 14 bytes of ATKLST are 0; A = 0
;   Errors:   none
;   Clobbers: AF, B, HL
;   Stack:    0 bytes
;   Cycles:   410
NEWLST: MVI A,FENCE
        STA ENDLST
        LXI H,ATKLST
        MVI B,2*SECTN
        XRA A
..NEXT: MOV M,A
        INX H
        DJNZ ..NEXT
        RET
        .END
