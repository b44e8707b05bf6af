; The Z80's fixed vectors at the start of ROM: reset, RST, interrupt.

        .IDENT RESET
        .EXTERN MONITR,USERV,KVECT
        .IFN Z180,[
        .INSERT z180.asm
        ]

        .LOC 0                  ; reset
        DI
        JMP MONITR

        .LOC 8                  ; RST 1: sends A for a program, as many stock monitors do
        JMP GIVE

        .IFN Z180,[
        .LOC 0EH                ; the vector of the ASCI while I and IL are 0
        .WORD USERV
        ]

        .LOC 30H                ; RST 6: the debug kernel's, while one is there
        JMP KVECT

        .LOC 38H                ; interrupt in mode 1
        JMP USERV

        .LOC 40H
        .INSERT send.asm

        .LOC 66H                ; non-maskable interrupt: nothing on the board makes one
        RETN
        .END
