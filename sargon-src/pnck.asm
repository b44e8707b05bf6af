; Whether a pin keeps a piece from taking part.

        .IDENT PNCK
        .INTERN PNCK
        .EXTERN NPINS
        .INSERT sargon.asm

; PNCK - looks a piece up in the pin list.
;   A piece pinned once may move along the pin only; a piece pinned twice not at all.
;   Entry:    HL = the piece's square; C = step from the square under examination towards it;
;             NPINS is not 0
;   Exit:     carry set: the piece is barred; clear: it may take part
;   Errors:   none
;   Clobbers: AF
;   Stack:    6 bytes
;   Cycles:   119..442 over the corpus
PNCK:   PUSH H
        PUSH B
        LDA NPINS
        MOV C,A
        MVI B,0
        MOV A,L
        MVI L,O.PINA
        CCIR
        JRNZ ..FREE
        PUSH H
        JPO ..ONCE              ; that was the last of the list
        CCIR
        JRZ ..TWO
..ONCE: POP H                   ; just past the entry
        POP B
        PUSH B
        MOV A,L
        ADI O.PIND-O.PINA-1
        MOV L,A
        MOV A,M
        CMP C
        JRZ ..FREE
        NEG
        CMP C
        JRZ ..FREE
        STC
        JMPR ..EXIT
..TWO:  POP H
        STC
        JMPR ..EXIT
..FREE: ORA A
..EXIT: POP B
        POP H
        RET
        .END
