; The start of a .COM file with a program for high memory: copies the program to its address and
; starts it. The assembler defines TARGET, the address of the program; LENGTH, its size; ENTRY, its
; entry address; TOP, the first address after the program and its variables.

        .IDENT  CPMLDR
BDOS    ==      5
PRINT   ==      9               ; function that prints a text up to '$'

        .LOC    100H
        LHLD    BDOS+1          ; free memory ends at BDOS
        LXI     D,TOP
        ORA     A
        DSBC    D
        JRC     SMALL
        LXI     H,TAIL
        LXI     D,TARGET
        LXI     B,LENGTH
        LDIR
        JMP     ENTRY
SMALL:  LXI     D,TEXT
        MVI     C,PRINT
        JMP     BDOS            ; BDOS returns to CP/M
TEXT:   .ASCII  "this CP/M leaves too little memory to programs$"
TAIL::
        .END
