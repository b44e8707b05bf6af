; The check of a square's record, in less time than CRC32 takes for as many bytes anywhere.

        .IDENT CRCREC
        .INTERN CRCARR,CRCTAL
        .EXTERN CRCTAB,CHECK
        .INSERT sargon.asm

; BYTE - takes the byte at AT(X) into the check D C B A.
        .DEFINE BYTE[AT]=[
        XRA AT(X)
        MOV L,A
        MOV H,E
        MOV A,M
        XRA B
        EXAF
        INR H
        MOV A,M
        XRA C
        MOV B,A
        INR H
        MOV A,M
        XRA D
        MOV C,A
        INR H
        MOV D,M
        EXAF
]
; OPEN, CLOSE - fetch the check from memory, and store it there.
        .DEFINE OPEN=[
        LHLD CHECK
        MOV B,H
        MOV A,L
        LHLD CHECK+2
        MOV C,L
        MOV D,H
        LXI H,CRCTAB
        MOV E,H                 ; the page of the lowest bytes
]
        .DEFINE CLOSE=[
        MOV L,A
        MOV H,B
        SHLD CHECK
        MOV L,C
        MOV H,D
        SHLD CHECK+2
]
; CRCARR - takes an attackers array into the check.
;   Entry:    IX = the array; CHECK = check so far, complemented; CRCINI has made the table
;   Exit:     CHECK includes it
;   Errors:   none
;   Clobbers: AF, BC, DE, HL, AF'
;   Stack:    0 bytes
;   Cycles:   1450
CRCARR: OPEN
        BYTE 0
        BYTE 1
        BYTE 2
        BYTE 3
        BYTE 4
        BYTE 5
        BYTE 6
        BYTE 7
        BYTE 8
        BYTE 9
        BYTE 10
        BYTE 11
        BYTE 12
        BYTE 13
        CLOSE
        RET
        .IFN SECTN-7,[.ERROR "an array has not the bytes that CRCARR takes"]

; CRCTAL - takes four bytes into the check.
;   Entry:    IX = the first; CHECK = check so far, complemented; CRCINI has made the table
;   Exit:     CHECK includes them
;   Errors:   none
;   Clobbers: AF, BC, DE, HL, AF'
;   Stack:    0 bytes
;   Cycles:   500
CRCTAL: OPEN
        BYTE 0
        BYTE 1
        BYTE 2
        BYTE 3
        CLOSE
        RET
        .END
