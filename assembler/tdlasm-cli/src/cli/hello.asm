        .LOC    8000H           ; code from here on is at fixed addresses
COUNT == 5                      ; a constant
START:  MVI     B,COUNT         ; MVI loads a constant, MOV a register
        LXI     H,TEXT          ; LXI loads a pair: H means HL
..NEXT: IN      80H             ; the status of the board's serial chip, a 68B50
        ANI     2               ; can it send?
        JRZ     ..NEXT          ; a relative jump names its target
        MOV     A,M             ; M is the byte that HL points to
        OUT     81H
        INX     H
        DJNZ    ..NEXT
        JMP     0               ; back to what is in the ROM
TEXT:   .ASCII  "HELLO"
        .END    START
