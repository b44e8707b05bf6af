        .TITLE  "COMPARE - TWO FILES, BYTE BY BYTE"
        .SBTTL  "THE PROGRAM"
        .IDENT  COMPAR
        .I8080                  ; IT IS TO RUN ON THE OLD PROCESSOR TOO
        .PREL
        .LINK
;
;       COMPARE A.TXT B.TXT
;
;       SHOWS WHERE TWO FILES DIFFER, AND HOW OFTEN.  WRITTEN FOR THE TESTS
;       OF AN ASSEMBLER; IT IS DIVIDED INTO MODULES AS PROGRAMS OF 1978 WERE.
;
        .SLIST  .XLIST
        .INSERT SYSTEM
        .RLIST
        .EXTERN OPEN,NEXT,FILE.A,FILE.B
LIMIT   ==      100             ; SO MANY DIFFERENCES ARE SHOWN
;
START:: LXI     SP,STACK
        LDA     FCB.2+1
        SUI     ' '
        JZ      USAGE
        LXI     H,FCB.2         ; THE FIRST FILE'S BLOCK WILL COVER THIS
        LXI     D,FILE.B+F.FCB
        MVI     B,16
..MOVE: MOV     A,M
        STAX    D
        INX     H
        INX     D
        DCR     B
        JNZ     ..MOVE
        LXI     H,FCB.1
        LXI     D,FILE.A+F.FCB
        MVI     B,16
..AGAIN: MOV    A,M
        STAX    D
        INX     H
        INX     D
        DCR     B
        JNZ     ..AGAIN
        LXI     H,FILE.A
        CALL    OPEN
        JC      MISSING
        LXI     H,FILE.B
        CALL    OPEN
        JC      MISSING
        LXI     H,-1            ; THE PLACE: THE NEXT ONE IS THE FIRST
LOOP:   INX     H
        SHLD    PLACE
        LXI     H,FILE.A
        CALL    NEXT
        JC      A.ENDS
        PUSH    PSW
        LXI     H,FILE.B
        CALL    NEXT
        JC      B.ENDS
        POP     B
        LHLD    PLACE
        CMP     B
        JZ      LOOP
        MOV     C,A
        CALL    SHOW#           ; B AND C DIFFER AT HL
        LXI     H,DIFFS
        INR     M
        MVI     A,LIMIT
        CMP     M
        LHLD    PLACE
        JNZ     LOOP
        PRINT   T.MANY
        JMP     FINISH
B.ENDS: POP     PSW
        PRINT   T.B
        JMP     FINISH
A.ENDS: LXI     H,FILE.B
        CALL    NEXT
        JC      BOTH
        PRINT   T.A
        JMP     FINISH
BOTH:   LDA     DIFFS
        ORA     A
        JNZ     FINISH
        PRINT   T.SAME
FINISH: LHLD    DIFFS
        MVI     H,0
        CALL    NUMBER#
        PRINT   T.DIFFS
        JMP     0
USAGE:  PRINT   T.USE
        JMP     0
MISSING: PRINT  T.NONE
        JMP     0
;
        .LOC    .DATA.
DIFFS:  .BYTE   0
PLACE:  .WORD   0
T.USE:  .ASCII  "USE: COMPARE A.TXT B.TXT" [0DH] [0AH] '$'
T.NONE: .ASCII  "NO SUCH FILE"[13][10]'$'
T.A:    .ASCII  /FILE A IS SHORTER/[13][10]/$/
T.B:    .ASCII  /FILE B IS SHORTER/[13][10]/$/
T.SAME: .ASCII  "THE FILES ARE THE SAME" [13][10] "$"
T.MANY: .ASCII  "AND SO ON"[13][10]"$"
T.DIFFS: .ASCII " DIFFERENCES"[13][10]"$"
        .LOC    .BLNK.
        .BLKW   32
STACK:
        .PRGEND START
        .TITLE  "COMPARE - TWO FILES, BYTE BY BYTE"
        .SBTTL  "READING"
        .IDENT  FILES
        .I8080
        .INSERT SYSTEM
        .ENTRY  OPEN,NEXT
        .INTERN FILE.A,FILE.B
;
; OPEN - THE FILE WHOSE BLOCK IS AT HL; CARRY IF THERE IS NONE
;
OPEN:   MVI     M,0             ; NOTHING IS LEFT IN THE BUFFER
        INX     H
        PUSH    H
        LXI     D,32            ; FROM THE NAME TO THE CURRENT RECORD
        DAD     D
        MVI     M,0
        POP     D
        OPENFILE
        INR     A               ; 0FFH IS AN ERROR
        STC
        RZ
        CMC
        RET
;
; NEXT - A = THE NEXT BYTE OF THE FILE WHOSE BLOCK IS AT HL; CARRY AT ITS END
;
NEXT:   MOV     A,M
        ORA     A
        CZ      ..FILL
        RC
        MOV     A,M
        DCR     M
        CMA
        ADI     F.SIZE+1        ; FROM THE BLOCK TO THE BYTE
        MOV     E,A
        .IFLE   F.SIZE-255,[
        MVI     D,0
][
        .ERROR  "THE BLOCK HAS BECOME TOO LONG"
]
        DAD     D
        MOV     A,M
        ORA     A
        RET
..FILL: PUSH    H
        LXI     D,F.BUFFER
        DAD     D
        XCHG
        SETDMA
        POP     H
        PUSH    H
        .IFE    F.FCB-1,[
        INX     H
]                               ; ONE STEP IS ENOUGH

; OR SEVERAL
        [
        LXI     D,F.FCB
        DAD     D
]
        XCHG
        READ
        POP     H
        ORA     A
        STC
        RNZ
        MVI     M,RECORD
        CMC
        RET
        .LOC    .BLNK.
FILE.A: .BLKB   F.SIZE
FILE.B: .BLKB   F.SIZE
        .PRGEND
        .TITLE  "COMPARE - TWO FILES, BYTE BY BYTE"
        .SBTTL  "WHAT IS SHOWN"
        .IDENT  OUTPUT
        .INSERT SYSTEM
        .EXTERN SCRATCH         ; A SHARED AREA: WE NEED 4 BYTES OF IT
;
; SHOW - HL: THE PLACE, B: WHAT ONE FILE HAS THERE, C: WHAT THE OTHER
;
SHOW::  PUSH    B
        PUSH    B
        MOV     A,H
        CALL    HEX
        MOV     A,L
        CALL    HEX
        TYPE    ':'
        POP     B
        MOV     A,B
        CALL    HEX
        TYPE    '/'
        POP     B
        MOV     A,C
        CALL    HEX
        TYPE    0DH
        TYPE    0AH
        RET
HEX:    PUSH    B
        PUSH    H
        MOV     B,A
        RRC
        RRC
        RRC
        RRC
        CALL    ..ONE
        MOV     A,B
        CALL    ..ONE
        POP     H
        POP     B
        RET
..ONE:  ANI     0FH
        CPI     10
        JC      ..NUM
        ADI     'A'-'9'-1
..NUM:  ADI     '0'
        MOV     E,A
        PUSH    B
        TYPE
        POP     B
        RET
;
; NUMBER - HL IN DECIMAL
;
NUMBER:: SHLD   REST
        LXI     H,TENTHS
..NEXT: MOV     E,M
        INX     H
        MOV     D,M
        INX     H
        MOV     A,D
        ORA     E
        RZ
        SHLD    AT
        LHLD    REST
        MVI     C,'0'
..SUB:  MOV     A,L
        SUB     E
        MOV     B,A
        MOV     A,H
        SBB     D
        JC      ..DONE
        MOV     H,A
        MOV     L,B
        INR     C
        JMP     ..SUB
..DONE: SHLD    REST
        MOV     E,C
        TYPE
        LHLD    AT
        JMP     ..NEXT
        .DEFINE TENS[N]=[
        .IFG    N,[
        .WORD   N
        TENS    \(N/10)
][
        .WORD   0
]
]
        .LOC    .DATA.
TENTHS: TENS    10000
        .LOC    SCRATCH
REST:   .BLKW   1
AT:     .BLKW   1
        .RELOC
        .END
