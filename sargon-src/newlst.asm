; Empties the attackers array.

        .IDENT NEWLST
        .INTERN NEWLST
        .EXTERN ATKLST,ENDLST
        .INSERT sargon.asm
        .IFN FAST,[.INTERN CLRLST]

; NEWLST - prepares the attackers array for a square, and puts the fence where walks along it end.
;   The fast evaluator writes all 14 bytes in any case, so that its NEWLST puts up the fence only.
;   Entry:    nothing
;   Exit:     the 14 bytes of ATKLST are 0, unless fast; A = 0
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   156; fast 34
;
; CLRLST - in the fast evaluator, what NEWLST does in the others.
;   Entry:    nothing
;   Exit:     the 14 bytes of ATKLST are 0; A = 0
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   156
        .IFN FAST,[
NEWLST: MVI A,FENCE
        STA ENDLST              ; as below; fast, nothing else is to be done
        XRA A
        RET
CLRLST:][
NEWLST:]
        MVI A,FENCE
        STA ENDLST
        LXI H,0                 ; seven stores of a word are faster than any loop
        SHLD ATKLST
        SHLD ATKLST+2
        SHLD ATKLST+4
        SHLD ATKLST+6
        SHLD ATKLST+8
        SHLD ATKLST+10
        SHLD ATKLST+12          ; the last two of 14 bytes
        XRA A                   ; callers rely on it
        RET
        .END
