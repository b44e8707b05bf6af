; Prints TICK every two seconds until it is stopped.
        .LOC    8000H
START:  LXI     H,TEXT
        MVI     B,6
..NEXT: IN      80H             ; can the 68B50 send?
        ANI     2
        JRZ     ..NEXT
        MOV     A,M
        OUT     81H
        INX     H
        DJNZ    ..NEXT
        MVI     D,10            ; ten times 65,536 times 26 T-states
..WAIT: LXI     B,0
..DOWN: DCX     B
        MOV     A,B
        ORA     C
        JRNZ    ..DOWN
        DCR     D
        JRNZ    ..WAIT
        JMP     START
TEXT:   .ASCII  "TICK"
        .BYTE   0DH,0AH
        .END    START
