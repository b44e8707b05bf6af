; A program of docs/BATCH.md: sends its exit code, 0, by RST 08H under any monitor but CP/M.
        .LOC    8400H
START:  LXI     H,TEXT
..SEND: MOV     A,M
        ORA     A
        JRZ     ..REST
        MOV     E,A
        LXI     B,180H
        PUSH    H
        RST     1
        POP     H
        INX     H
        JMPR    ..SEND
..REST: LXI     H,3000
..WAIT: DCX     H
        MOV     A,H
        ORA     L
        JRNZ    ..WAIT
        JMP     0
TEXT:   .BYTE   4
        .ASCII  /00/
        .BYTE   13,10,0
        .END    START
