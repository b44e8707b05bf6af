        .IDENT SINES
        .ENTRY SINE
SINE:   RET
        .END
