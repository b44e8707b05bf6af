        .IDENT  PNCK
        .INTERN PNCK
        .INSERT names.asm

PNCK:   PUSH    B
        PUSH    D
        LIXD    NPINS
        LDA     NPINS
        MOV     B,A
        MVI     D,0             ; how often the square is in the list
..NEXT: MOV     A,L
        CMP     PLIST(X)
        JRNZ    ..OLD
        INR     D
        MOV     E,PLISTD(X)
..OLD:  DCX     X
        DJNZ    ..NEXT
        MOV     A,D
        ORA     A
        JRZ     ..DONE          ; not pinned
        CPI     2
        JRNC    ..BAR           ; pinned on two lines
        MOV     A,E
        CMP     C
        JRZ     ..DONE          ; away from the royal piece
        NEG
        CMP     C
        JRZ     ..DONE          ; or towards it
..BAR:  STC
        JMPR    ..EXIT
..DONE: ORA     A
..EXIT: POP     D
        POP     B
        RET
        .END
