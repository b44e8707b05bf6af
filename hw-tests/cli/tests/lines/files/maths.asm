        .IDENT MATHS
        .ENTRY SINE
SINE:   RET
        .END
