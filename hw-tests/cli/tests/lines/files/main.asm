        .IDENT MAIN
        .EXTERN SINE
        CALL SINE
        RET
        .END
