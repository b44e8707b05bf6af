; The check of a square's record, in less time than CRC32 takes for as many bytes anywhere.

        .IDENT CRCREC
        .INTERN CRCARR,CRCTAL
        .EXTERN CRCTAB,CHECK,ATKLST,ENDING
        .INSERT sargon.asm

; BYTE - takes the byte at AT into the check D E B C, C the lowest.
        .DEFINE BYTE[AT]=[
        LDA AT
        XRA C
        LXI H,CRCTAB
        MOV L,A
        MOV A,M
        XRA B
        MOV C,A
        INR H
        MOV A,M
        XRA E
        MOV B,A
        INR H
        MOV A,M
        XRA D
        MOV E,A
        INR H
        MOV D,M
]
; OPEN, CLOSE - fetch the check from memory, and store it there.
        .DEFINE OPEN=[
        LBCD CHECK
        LDED CHECK+2
]
        .DEFINE CLOSE=[
        SBCD CHECK
        SDED CHECK+2
]

; CRCARR - takes the attackers array into the check.
;   Entry:    ATKLST = the array; CHECK = check so far, complemented; CRCINI has made the table
;   Exit:     CHECK includes it
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    0 bytes
;   Cycles:   1420
CRCARR: OPEN
        BYTE ATKLST
        BYTE ATKLST+1
        BYTE ATKLST+2
        BYTE ATKLST+3
        BYTE ATKLST+4
        BYTE ATKLST+5
        BYTE ATKLST+6
        BYTE ATKLST+7
        BYTE ATKLST+8
        BYTE ATKLST+9
        BYTE ATKLST+10
        BYTE ATKLST+11
        BYTE ATKLST+12
        BYTE ATKLST+13
        CLOSE
        RET
        .IFN SECTN-7,[.ERROR "an array has not the bytes that CRCARR takes"]

; CRCTAL - takes four bytes into the check.
;   Entry:    ENDING = the first; CHECK = check so far, complemented; CRCINI has made the table
;   Exit:     CHECK includes them
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    0 bytes
;   Cycles:   470
CRCTAL: OPEN
        BYTE ENDING
        BYTE ENDING+1
        BYTE ENDING+2
        BYTE ENDING+3
        CLOSE
        RET
        .END
