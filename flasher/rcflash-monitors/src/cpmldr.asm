; What stands before a program for high memory in a .COM file: brings it there and starts it. Where
; this is assembled are defined TARGET, the address of the program; LENGTH, its bytes; ENTRY, where
; it is entered; TOP, the first address that it and its variables leave alone.

        .IDENT  CPMLDR
BDOS    ==      5
PRINT   ==      9               ; the function that sends a text up to '$'

        .LOC    100H
        LHLD    BDOS+1          ; memory below BDOS is free
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
        JMP     BDOS            ; which returns to CP/M
TEXT:   .ASCII  "this CP/M leaves too little memory to programs$"
TAIL::
        .END
