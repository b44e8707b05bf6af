; Tests whether a pin bars a piece from the exchange.

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
        PUSH B                  ; C, the step, is needed again
        LDA NPINS
        MOV C,A                 ; as many squares as there are pins
        MVI B,0
        MOV A,L
        MVI L,O.PINA            ; the list is in the page of the board
        CCIR                    ; up to the first entry of this square
        JRNZ ..FREE             ; it has none
        PUSH H
        JPO ..ONCE              ; that was the last of the list
        CCIR                    ; is there another?
        JRZ ..TWO
..ONCE: POP H                   ; after the entry
        POP B
        PUSH B                  ; C = the step again
        MOV A,L
        ADI O.PIND-O.PINA-1     ; from the entry to its direction
        MOV L,A
        MOV A,M
        CMP C                   ; away from the royal piece
        JRZ ..FREE
        NEG                     ; or towards it: the same line
        CMP C
        JRZ ..FREE
        STC                     ; off the line
        JMPR ..EXIT
..TWO:  POP H
        STC                     ; pinned on two lines, it can move on neither
        JMPR ..EXIT
..FREE: ORA A
..EXIT: POP B
        POP H
        RET
        .END
