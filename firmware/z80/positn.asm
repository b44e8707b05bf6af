; The application's requests: an exchange on a given array, a whole position, and the checks of
; several positions.

        .IDENT POSITN
        .INTERN DOXCHG,DOPOSN,DOCHKS,DOIDLE,SETUP,SETPCE,NOPINS,UNPACK,REFUSE,NEWARR,ENDING
        .EXTERN XCHNG,NEWLST,PINFND,TBASE,BOARDA,ATKLST,STATUS,NPINS,PLISTA,POSK,M1,M3,T1,T3,P1,PINPAG
        .EXTERN POINTS,ALLST,MOVER,PTSL,CRCARR,CRCTAL,CRC32,CHECK,FLIP
        .EXTERN CHKINT,WAITS,NEWRPL,PUTFRM,PUTERR,R.LEN,R.DATA,P.LEN,P.TYPE,P.DATA
        .INSERT wire.asm
        .INSERT sargon.asm

ENDMAX  == 7+2*PINMAX+PTSLEN+1  ; more than a record

        .LOC .DATA.
COUNT:  .BLKB 1                 ; squares reported so far
PARTS:  .BLKB 1                 ; frames sent so far
SPOT:   .BLKW 1                 ; where the next record or check goes
MASK:   .BLKB 1                 ; bits of the statuses that CHECKS is to take in
PSLEFT: .BLKB 1                 ; bytes of its request that follow
FROM:   .BLKW 1                 ; where they are
ENDING: .BLKB ENDMAX            ; a record, or the end of a position, for its check

        .LOC .PROG.
; SETUP - clears the data page and writes what never changes: the borders and the pages of the index
; variables.
;   Entry:    nothing
;   Exit:     done
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    2 bytes
;   Cycles:   6196; fast 6074
SETUP:  LXI H,BOARDA
        LXI D,BOARDA+1          ; LDIR copies the byte before on and on
        LXI B,120               ; the board, and the byte after it
        MVI M,BORDER            ; and over it everything else
        LDIR
        INX H                   ; LDIR has left HL at the last byte written
        INX D                   ; and DE one further
        LXI B,134               ; the rest of the page
        MVI M,0
        LDIR
        MVI A,BORDER
        STA POSK+4              ; after the four royal squares: ends the list
        LXI H,BOARDA
        LXI D,M1                ; M1 to M4
        MVI B,4
        CALL PAGES
        LXI H,TBASE
        MVI B,5                 ; T1, T2, T3, INDX1, INDX2
        CALL PAGES
        LXI H,PINPAG
        INR B                   ; NPINS
        CALL PAGES
        MVI A,7
        STA T1
        JMP NEWLST

; PAGES - stores the word HL in B index variables from DE on.
PAGES:  MOV A,L
        STAX D                  ; low byte: 0, as pages begin there
        INX D
        MOV A,H
        STAX D
        INX D
        DJNZ PAGES
        RET

; DOXCHG - answers EXCHANGE.
;   Entry:    R.DATA = the request
;   Exit:     the reply is on its way
;   Errors:   a piece that is none is answered by the error reply
;   Clobbers: AF, BC, DE, HL of both sets, AF'
;   Stack:    24 bytes
;   Cycles:   6000..20000
DOXCHG: LDA R.DATA
        CALL SETPCE             ; carry: no piece
        LXI D,0                 ; the piece is at offset 0
        JRC REFUSE
        XRA A                   ; of this request alone
        STA STATUS
        LXI H,R.DATA+1
        CALL NEWARR             ; with the fence, which XCHNG needs
        CALL XCHNG
        CALL CHKINT             ; before PUTFRM, which turns interrupts on
        CALL NEWRPL             ; leaves E alone
        MOV M,E                 ; the residue
        INX H
        LDA STATUS
        MOV M,A
        MVI A,2
        STA P.LEN
        JMP PUTFRM              ; returns to TABLE

; REFUSE - answers that an argument means nothing.
;   Entry:    DE = its offset in the request
;   Exit:     the error reply is on its way
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    18 bytes
;   Cycles:   5000..9000
REFUSE: MVI C,E.ARG
        JMP PUTERR              ; DE = offset is the detail

; NEWARR - puts the array at HL in place, with no pins after it.
;   Entry:    HL = 14 bytes
;   Exit:     ATKLST filled
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    4 bytes
;   Cycles:   557; original 1912; fast 435
NEWARR: PUSH H
        CALL NOPINS
        CALL NEWLST             ; the fence; the zeros are written over
        POP H                   ; XCHNG needs the fence
        LXI D,ATKLST
        LXI B,2*SECTN
        LDIR
        RET

; NOPINS - empties the pin list. In the original walks may get into it, and must find nothing of an
; earlier request there; if corrected, only the count matters.
;   Entry:    nothing
;   Exit:     done
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    0 bytes
;   Cycles:   27; original 1382
NOPINS: XRA A
        STA NPINS
        .IFN ORIGINAL,[
        LXI H,PLISTA
        LXI D,PLISTA+1
        LXI B,2*PINMAX-1
        MOV M,A                 ; the first byte; LDIR copies it on
        LDIR
]
        RET

; SETPCE - makes a piece the one under examination.
;   Entry:    A = piece
;   Exit:     P1 and T3 are set, carry clear
;   Errors:   carry set: its type is not 1 to 6
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   42..71
SETPCE: STA P1
        ANI 7                   ; the type, without the colour
        CPI KING+1
        CMC                     ; carry if it is above the king
        RC
        CPI PAWN                ; 0 is no piece
        RC
        STA T3                  ; the low byte: an offset in the table page
        RET

; DOPOSN - answers POSITION.
;   Entry:    R.DATA = the request
;   Exit:     the replies are on their way
;   Errors:   a byte that means no pieces is answered by the error reply
;   Clobbers: everything
;   Stack:    40 bytes
;   Cycles:   11000..5000000
DOPOSN: LXI D,R.DATA
        CALL UNPACK
        JC REFUSE               ; DE = the offset that UNPACK has found
        LDA R.LEN
        CPI 33                  ; without the move?
        LXI D,32                ; the move is at offset 32
        JRC ..SET
        JZ REFUSE               ; only one byte of the move
        LHLD R.DATA+32          ; L = side that has moved, H = destination
        MOV A,L
        ANI 7FH                 ; White or Black
        JNZ REFUSE
        SHLD MOVER
..SET:  CALL PINFND             ; before ATTACK: pins bar attackers
        CALL CHKINT
        CALL NEWRPL             ; before records go there
        XRA A
        STA COUNT               ; of squares, for the end
        STA PARTS
        LXI H,P.DATA+2          ; part and number of records come first
        SHLD SPOT
        LXI H,ADDREC            ; POINTS calls it for each occupied square
        CALL POINTS
        CALL CHKINT
        CALL FLUSH              ; what does not fill a frame
        MVI A,T.PEND+T.REPL     ; the end has its own type
        STA P.TYPE
        LXI H,P.DATA
        LDA PARTS
        MOV M,A
        INX H
        CALL PUTEND             ; HL = after the last byte
        LXI D,P.DATA
        ORA A                   ; DSBC takes carry along
        DSBC D                  ; the length of the payload
        MOV A,L
        STA P.LEN
        JMP PUTFRM

; ADDREC - plays the battle for a square out for POINTS, adds its record to the reply, and sends
; that if it is full.
ADDREC: LHLD SPOT               ; where the next record goes
        CALL RECRD              ; HL = after it
        SHLD SPOT
        LXI H,P.LEN             ; records in this frame so far
        INR M
        MOV A,M
        CPI RECMAX              ; is the frame full?
        RNZ
        PUSH D                  ; PUTFRM uses it up
        CALL FLUSH
        POP D                   ; E = the residue
        RET

; FLUSH - sends the records gathered, if there are any, and starts over.
FLUSH:  LDA P.LEN
        ORA A                   ; none gathered
        RZ
        CALL CHKINT             ; before PUTFRM turns interrupts on; leaves the count
        STA P.DATA+1            ; records in this frame
        LDA PARTS               ; which frame of the position, from 0
        STA P.DATA
        INR A
        STA PARTS
        LHLD SPOT
        LXI D,P.DATA
        ORA A                   ; DSBC takes carry along
        DSBC D                  ; the length of the payload
        MOV A,L
        STA P.LEN
        CALL PUTFRM
        XRA A
        STA P.LEN               ; records are counted from 0 again
        LXI H,P.DATA+2          ; the first record of the next frame
        SHLD SPOT
        RET

; RECRD - plays the battle for a square out and stores its record at HL; HL is after it then, E
; = the residue.
RECRD:  PUSH H                  ; the record's start, for HEAD
        INX H
        INX H
        INX H
        INX H
        XCHG                    ; the array follows four bytes
        LXI H,ATKLST            ; before XCHNG uses it up
        CALL MOVE7              ; White's section
        CALL MOVE7              ; Black's
        POP H
        PUSH D                  ; DE = after the record
        CALL HEAD               ; after the copy: XCHNG uses the array up
        POP H                   ; HL = after the record
        RET

; HEAD - plays the battle for a square out and stores the four bytes before the array in its record
; at HL; E = the residue.
HEAD:   PUSH H                  ; XCHNG uses both sets
        CALL XCHNG
        MOV A,E                 ; the residue
        POP H
        LDED M3                 ; E = the square
        MOV M,E
        MOV E,A                 ; E = the residue
        INX H
        LDA P1                  ; the piece
        MOV M,A
        INX H
        LDA STATUS              ; after XCHNG, which may have set B.SHRT
        MOV M,A
        INX H
        MOV M,E                 ; the residue
        LXI H,COUNT             ; one square more
        INR M
        RET

; MOVE7 - moves seven bytes, a section of the array, from HL to DE.
MOVE7:  LDI
        LDI
        LDI
        LDI
        LDI
        LDI
        LDI
        RET

; PUTEND - stores what ends a position, but for the count of frames, at HL: squares, status, royal
; squares, pins, and if the request has the move, what POINTS finds. HL is after it then.
PUTEND: XCHG
        LDA COUNT
        STAX D                  ; squares
        INX D
        LDA ALLST
        STAX D                  ; statuses
        INX D
        LXI H,POSK              ; kings, then queens: POSQ follows
        LXI B,4
        LDIR                    ; royal squares
        LDA NPINS
        STAX D                  ; pins
        INX D
        ORA A                   ; no pins: DJNZ would run 256 times
        JRZ ..PTS
        MOV B,A
        LXI H,PLISTA
..PIN:  MOV A,M                 ; the pinned square
        STAX D
        INX D
        MOV C,L                 ; the place in the list, while L looks into the other
        MVI A,O.PIND-O.PINA     ; from the square to the direction
        ADD L
        MOV L,A
        MOV A,M                 ; its direction
        STAX D
        INX D
        MOV L,C                 ; both lists lie in one page: H stays
        INX H
        DJNZ ..PIN
..PTS:  LDA R.LEN               ; 32 bytes are the squares without a move
        CPI 32
        JRZ ..DONE
        LXI H,PTSL
        LXI B,PTSLEN
        LDIR                    ; losses and prizes
        LDA ALLST
        STAX D                  ; and with the move the statuses once more
        INX D
..DONE: XCHG
        RET

; DOCHKS - answers CHECKS.
;   Entry:    R.DATA = the request
;   Exit:     the reply is on its way
;   Errors:   a byte that means nothing, or a length that is no number of positions, is answered by
;             the error reply
;   Clobbers: everything
;   Stack:    44 bytes
;   Cycles:   30000..30000000
DOCHKS: LDA R.LEN
        DCR A                   ; without the mask
..LEN:  SUI POSLEN
        JRZ ..GO                ; a whole number of positions
        JRNC ..LEN
        MVI C,E.LEN             ; the length is the detail
        LDA R.LEN
        MOV E,A
        MVI D,0
        JMP PUTERR
..GO:   CALL NEWRPL             ; HL = P.DATA, where the first check goes
        SHLD SPOT
        LXI H,R.DATA
        MOV A,M
        STA MASK                ; the statuses that count
        INX H                   ; the first position
        SHLD FROM
        LDA R.LEN
        DCR A
..NEXT: STA PSLEFT
        CALL ONECHK
        JC REFUSE               ; DE = the offset that ONECHK has found
        LDA PSLEFT
        SUI POSLEN              ; one position less
        JRNZ ..NEXT
        LHLD SPOT               ; after the last check
        LXI D,P.DATA
        ORA A
        DSBC D
        MOV A,L
        STA P.LEN
        JMP PUTFRM

; ONECHK - stores the check of the position at FROM at SPOT, and takes both to the next. Carry set
; with DE the offset of a byte that means nothing.
ONECHK: LDED FROM               ; UNPACK reads at DE
        CALL UNPACK
        RC
        LHLD FROM
        LXI D,32                ; after the squares
        DAD D
        MOV E,M                 ; side that has moved, and destination
        INX H
        MOV D,M
        INX H
        SHLD FROM               ; the next position
        SDED MOVER              ; E to MOVER, D to MOVED
        MOV A,E
        ANI 7FH                 ; White or Black
        JRNZ ..BAD
        STA COUNT               ; A is 0
        LXI H,0FFFFH            ; nothing yet, complemented
        SHLD CHECK
        SHLD CHECK+2
        CALL PINFND
        CALL CHKINT
        LXI H,FOLD              ; POINTS calls it for each occupied square
        CALL POINTS
        CALL CHKINT
        LXI H,ENDING
        CALL PUTEND             ; what POSITION END would contain
        LXI D,ENDING
        ORA A
        DSBC D
        MOV B,L                 ; its length
        XCHG                    ; HL = ENDING
        CALL CRC32
        LDED SPOT
        LXI H,CHECK             ; the lowest byte first
        CALL FLIP               ; complemented
        SDED SPOT
        ORA A                   ; carry clear: it means something
        RET
..BAD:  DCX H                   ; back to the byte of the mover
        DCX H
        LXI D,R.DATA
        ORA A                   ; its offset
        DSBC D
        XCHG
        STC                     ; as UNPACK does
        RET

; DOIDLE - answers IDLE.
;   Entry:    nothing
;   Exit:     the reply is on its way
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    18 bytes
;   Cycles:   1900..10000
DOIDLE: CALL NEWRPL
        XCHG                    ; DE = P.DATA
        LXI H,WAITS
        LXI B,4
        MOV A,C
        STA P.LEN
        LDIR                    ; the service does not change them
        JMP PUTFRM

; FOLD - plays the battle for a square out for POINTS, and takes its record into the check, the
; array first.
FOLD:   CALL CRCARR             ; the array, before XCHNG uses it up
        LXI H,ENDING
        CALL HEAD               ; four bytes at ENDING
        LXI H,STATUS            ; ALLST takes it from there
        LDA MASK
        ANA M                   ; only the bits that the host selects
        MOV M,A
        STA ENDING+2
        CALL CRCTAL             ; square, piece, status, residue
        LDA ENDING+3
        MOV E,A                 ; the residue
        RET

; UNPACK - sets up the board and the royal squares from 32 bytes of the request, with no pins.
;   Entry:    DE = the first
;   Exit:     carry clear; STATUS is as it was
;   Errors:   carry set: DE = offset in the request of a byte that holds no pieces
;   Clobbers: AF, BC, DE, HL
;   Stack:    10 bytes
;   Cycles:   2000..9000
UNPACK: PUSH D                  ; NOPINS uses DE only in the original
        CALL NOPINS
        POP D
        LXI H,0                 ; kings and queens of the position before
        SHLD POSK
        SHLD POSK+2
        LXI H,BOARDA+A1
..RANK: MVI B,4                 ; two squares a byte
..PAIR: LDAX D
        ORA A                   ; the first half is the earlier square
        JRZ ..NONE
        CALL PUTONE             ; low half
        JRC ..BAD
        LDAX D
        RRC                     ; the other half
        RRC
        RRC
        RRC
        CALL PUTONE
        JRC ..BAD
..STEP: INX D
        DJNZ ..PAIR
        INX H                   ; past the border
        INX H
        MOV A,L
        CPI H8+3
        JRNZ ..RANK
        ORA A
        RET
..NONE: MOV M,A                 ; two empty squares, as there are most often
        INX H
        MOV M,A
        INX H
        JMPR ..STEP
..BAD:  LXI H,R.DATA            ; to subtract
        XCHG                    ; the offset of this byte
        ORA A
        DSBC D
        XCHG
        STC
        RET

; PUTONE - puts the piece of the code in A's low half on square HL and goes on to the next. Carry
; set if the code means nothing.
PUTONE: ANI 0FH                 ; one code
        JRZ ..SET
        MOV C,A                 ; the code, for its colour
        ANI 7
        CPI KING+1
        CMC                     ; above the king
        RC
        CPI PAWN                ; black, but no piece
        RC
        BIT 3,C                 ; Black?
        JRZ ..ROYL
        ORI 80H
..ROYL: MOV C,A
        ANI 7
        CPI QUEEN               ; king or queen
        MOV A,C
        CNC ROYAL
..SET:  MOV M,A
        INX H
        ORA A                   ; carry clear
        RET

; ROYAL - records square HL as that of the king or queen A. The last one counts.
ROYAL:  PUSH PSW                ; the piece, which PUTONE stores
        PUSH H
        MOV C,L                 ; the square
        LXI H,POSK
        RLC                     ; carry: the colour
        JRNC ..WHT
        INX H                   ; Black's comes second
..WHT:  ANI 0EH                 ; the type, doubled by RLC
        CPI 2*KING
        JRZ ..NOTE
        INX H                   ; the queens' are two further
        INX H
        CPI 2*QUEEN             ; a queen: her squares come after the kings'
        JRNZ ..NOT
..NOTE: MOV M,C
..NOT:  POP H
        POP PSW
        RET
        .END
