        .IDENT ROOTS
        .ENTRY ROOT
ROOT:   RET
        .END
