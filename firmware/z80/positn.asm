; The application's requests: an exchange on a given array, and a whole position.

        .IDENT POSITN
        .INTERN DOXCHG,DOPOSN,SETUP,SETPCE,NOPINS,UNPACK,REFUSE,NEWARR
        .EXTERN XCHNG,ATTACK,NEWLST,PINFND,TBASE,BOARDA,ATKLST,STATUS,NPINS,PLISTA,POSK,M1,M3,T1,T3,P1
        .EXTERN NEWRPL,PUTFRM,PUTERR,R.DATA,P.LEN,P.TYPE,P.DATA
        .INSERT wire.asm
        .INSERT sargon.asm

        .LOC .DATA.
COUNT:  .BLKB 1                 ; squares reported so far
PARTS:  .BLKB 1                 ; frames sent so far
ALLST:  .BLKB 1                 ; all statuses together

        .LOC .PROG.
; SETUP - clears the data page and writes what never changes: the borders and the pages of the index variables.
;   Entry:    nothing
;   Exit:     done
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    2 bytes
;   Cycles:   6414
SETUP:  LXI H,BOARDA
        LXI D,BOARDA+1
        LXI B,120
        MVI M,BORDER
        LDIR
        INX H
        INX D
        LXI B,134
        MVI M,0
        LDIR                    ; to the end of the page
        MVI A,BORDER
        STA POSK+4
        LXI H,BOARDA
        LXI D,M1
        MVI B,4
        CALL PAGES
        LXI H,TBASE
        MVI B,6                 ; T1, T2, T3, INDX1, INDX2, NPINS
        CALL PAGES
        MVI A,7
        STA T1
        JMP NEWLST

; PAGES - stores the word HL in B index variables from DE on.
PAGES:  MOV A,L
        STAX D
        INX D
        MOV A,H
        STAX D
        INX D
        DJNZ PAGES
        RET

; DOXCHG - answers EXCHANGE.
DOXCHG: LDA R.DATA
        CALL SETPCE
        LXI D,0                 ; the piece is at offset 0
        JRC REFUSE
        XRA A
        STA STATUS
        LXI H,R.DATA+1
        CALL NEWARR
        CALL XCHNG
        CALL NEWRPL             ; leaves E alone
        MOV M,E
        INX H
        LDA STATUS
        MOV M,A
        MVI A,2
        STA P.LEN
        JMP PUTFRM
REFUSE: MVI C,E.ARG
        JMP PUTERR

; NEWARR - puts the array at HL in place, with no pins behind it.
;   Entry:    HL = 14 bytes
;   Exit:     ATKLST filled
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    4 bytes
;   Cycles:   2152
NEWARR: PUSH H
        CALL NOPINS
        CALL NEWLST
        POP H
        LXI D,ATKLST
        LXI B,2*SECTN
        LDIR
        RET

; NOPINS - empties the pin list, so that walks into it, as in 1978, find nothing of an earlier request.
;   Entry:    nothing
;   Exit:     done
;   Errors:   none
;   Clobbers: F, BC, DE, HL
;   Stack:    0 bytes
;   Cycles:   1368
NOPINS: LXI H,PLISTA
        LXI D,PLISTA+1
        LXI B,2*PINMAX-1
        MVI M,0
        LDIR
        RET

; SETPCE - makes a piece the one under examination.
;   Entry:    A = piece
;   Exit:     P1 and T3 are set, carry clear
;   Errors:   carry set: its type is not 1 to 6
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   42..71
SETPCE: STA P1
        ANI 7
        CPI KING+1
        CMC
        RC
        CPI PAWN
        RC
        STA T3
        RET

; DOPOSN - answers POSITION.
DOPOSN: CALL UNPACK
        JRC REFUSE
        XRA A
        STA COUNT
        STA PARTS
        STA ALLST
        CALL PINFND
        CALL NEWRPL
        MVI A,A1
..NEXT: STA M3
        LHLD M3
        MOV A,M
        INR A
        JRZ ..STEP              ; the border
        DCR A
        CNZ SQUARE
..STEP: LDA M3
        INR A
        CPI H8+1
        JRNZ ..NEXT
        CALL FLUSH
        JMP ENDPOS

; UNPACK - sets up the board and the royal squares from the 32 bytes of the request. Carry set with DE the
; offset of a byte that holds no pieces.
UNPACK: CALL NOPINS
        LXI H,0
        SHLD POSK
        SHLD POSK+2
        LXI D,R.DATA
        LXI H,BOARDA+A1
..RANK: MVI B,4
..PAIR: LDAX D
        CALL ONE
        JRC ..BAD
        LDAX D
        RRC
        RRC
        RRC
        RRC
        CALL ONE
        JRC ..BAD
        INX D
        DJNZ ..PAIR
        INX H
        INX H
        MOV A,L
        CPI H8+3
        JRNZ ..RANK
        ORA A
        RET
..BAD:  LXI H,R.DATA
        XCHG
        ORA A
        DSBC D
        XCHG
        STC
        RET

; ONE - puts the piece of the code in A's low half on square HL and goes on to the next. Carry set
; when the code means nothing.
ONE:    ANI 0FH
        JRZ ..SET
        MOV C,A
        ANI 7
        CPI KING+1
        CMC
        RC
        CPI PAWN
        RC
        BIT 3,C
        JRZ ..ROYL
        ORI 80H
..ROYL: CALL ROYAL
..SET:  MOV M,A
        INX H
        ORA A
        RET

; ROYAL - when A is a king or a queen, notes square HL as where it stands. The last one counts.
ROYAL:  PUSH PSW
        PUSH H
        MOV C,L
        LXI H,POSK
        RLC                     ; carry: the colour
        JRNC ..WHT
        INX H
..WHT:  ANI 0EH
        CPI 2*KING
        JRZ ..NOTE
        INX H
        INX H
        CPI 2*QUEEN
        JRNZ ..NOT
..NOTE: MOV M,C
..NOT:  POP H
        POP PSW
        RET

; SQUARE - examines the piece A on square M3 and adds its record to the reply.
SQUARE: CALL SETPCE
        CALL NEWLST
        STA STATUS
        CALL ATTACK
        CALL SPOT
        PUSH H
        LXI D,4
        DAD D
        XCHG
        LXI H,ATKLST
        LXI B,2*SECTN
        LDIR
        CALL XCHNG
        MOV A,E
        POP H
        PUSH PSW
        LDA M3
        MOV M,A
        INX H
        LDA P1
        MOV M,A
        INX H
        LDA STATUS
        MOV M,A
        INX H
        POP PSW
        MOV M,A
        LXI H,ALLST
        LDA STATUS
        ORA M
        MOV M,A
        LXI H,COUNT
        INR M
        LXI H,P.LEN             ; records in this frame so far
        INR M
        MOV A,M
        CPI RECMAX
        RNZ

; FLUSH - sends the records gathered, if there are any, and starts over.
FLUSH:  LDA P.LEN
        ORA A
        RZ
        MOV C,A
        LDA PARTS
        STA P.DATA
        INR A
        STA PARTS
        MOV A,C
        STA P.DATA+1
        CALL SPOT               ; just past the last record
        LXI D,P.DATA
        ORA A
        DSBC D
        MOV A,L
        STA P.LEN
        CALL PUTFRM
        XRA A
        STA P.LEN
        RET

; SPOT - HL = where the next record goes: P.DATA + 2 + RECORD * P.LEN.
SPOT:   LXI H,P.DATA+2
        LXI D,RECORD
        LDA P.LEN
..NEXT: ORA A
        RZ
        DAD D
        DCR A
        JMPR ..NEXT

; ENDPOS - sends the frame that ends a position.
ENDPOS: MVI A,T.PEND+T.REPL
        STA P.TYPE
        LXI D,P.DATA
        LDA PARTS
        STAX D
        INX D
        LDA COUNT
        STAX D
        INX D
        LDA ALLST
        STAX D
        INX D
        LXI H,POSK
        LXI B,4
        LDIR
        LDA NPINS
        STAX D
        INX D
        MOV B,A
        ADD A
        ADI 8
        STA P.LEN
        MOV A,B
        ORA A
        JRZ ..SEND
        LXI H,PLISTA
..PIN:  MOV A,M
        STAX D
        INX D
        PUSH H
        MOV A,L
        ADI O.PIND-O.PINA
        MOV L,A
        MOV A,M
        STAX D
        INX D
        POP H
        INX H
        DJNZ ..PIN
..SEND: JMP PUTFRM
        .END
