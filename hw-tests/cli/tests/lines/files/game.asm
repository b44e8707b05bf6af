; The program of FOREIGN-CODE.md, as another tool would leave it in build.
        .IDENT GAME
        .INTERN MUL8
        .PABS
        .PHEX
        .LOC 8000H
START:  MVI A,7
        MVI E,6
        CALL MUL8
        RET
MUL8:   LXI H,0
        MOV D,L
        MVI B,8
..BIT:  DAD H
        RLC
        JRNC ..LOW
        DAD D
..LOW:  DJNZ ..BIT
        RET
        .END START
