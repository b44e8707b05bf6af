        .LOC    100H            ; code from here on is at fixed addresses
COUNT == 5                      ; a constant
START:  MVI     B,COUNT         ; MVI loads a constant, MOV a register
        LXI     H,TEXT          ; LXI loads a pair: H means HL
..NEXT: MOV     A,M             ; M is the byte that HL points to
        OUT     81H
        INX     H
        DJNZ    ..NEXT          ; a relative jump names its target
        RET
TEXT:   .ASCII  "HELLO"
        .END    START
