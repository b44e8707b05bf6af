; The request EXHAUST: the board enumerates a space of attackers arrays by itself, and reports
; only the check and the histogram of the residues.

        .IDENT EXHAUS
        .INTERN DOXHST
        .EXTERN SECTNS,SECADR,SECNXT,CRC32,CHECK,FLIP,SETPCE,NOPINS,NEWLST,XCHNG,ATKLST,STATUS,P1,T3
        .EXTERN CHKINT,NEWRPL,PUTFRM,PUTERR,R.DATA,P.LEN,P.DATA
        .INSERT wire.asm
        .INSERT sargon.asm

; Bins and residues must start at a multiple of 256: the layout aligns them.
        .LOC .DATA.
; How often each residue came: a page for the low bytes, one for the high.
BINS:   .BLKB 2*256
RESIDS: .BLKB KING+1            ; residues of the pieces between the same two sections, by type
TURNS:  .BLKB 1                 ; how many of those pieces are to come
XLEFT:  .BLKW 1                 ; arrays to come
WHITES: .BLKW 1                 ; where White's section is, and Black's
BLACKS: .BLKW 1

        .LOC .PROG.
; The request.
X.SPCE  == 0                    ; space
X.ATKS  == 1                    ; attackers' section
X.DEFS  == 3                    ; defenders' section
X.PIEC  == 5                    ; piece
X.CNT   == 6                    ; arrays
X.CRC   == 8                    ; check so far

; DOXHST - answers EXHAUST.
;   Entry:    R.DATA = the request
;   Exit:     the reply is on its way
;   Errors:   an argument that means nothing is answered by the error reply
;   Clobbers: AF, BC, DE, HL of both sets, AF', IX
;   Stack:    12 bytes
;   Cycles:   5000..200000000
DOXHST: LDA R.DATA+X.SPCE
        CALL SECTNS             ; made unless they are there
        LXI D,X.SPCE
        JRC XREFUS              ; LXI leaves carry
        LDA R.DATA+X.PIEC
        CALL SETPCE             ; P1 and T3: the first piece
        LXI D,X.PIEC
        JRC XREFUS
        LHLD R.DATA+X.DEFS
        CALL SECADR             ; HL = the defenders
        LXI D,X.DEFS
        JRC XREFUS
        PUSH H                  ; while the attackers are found
        LHLD R.DATA+X.ATKS
        CALL SECADR
        POP D                   ; DE = the defenders; POP leaves carry
        JRC ..ATKS
        LDA P1
        RLC                     ; carry: a Black piece
        JRC ..SECT
        XCHG                    ; a White piece is attacked by Black
..SECT: SHLD WHITES
        SDED BLACKS
        LHLD R.DATA+X.CNT       ; XLEFT counts down, the request is left as it is
        SHLD XLEFT
        MOV A,H                 ; none is none
        ORA L
        LXI D,X.CNT
        JRZ XREFUS
        CALL NOPINS             ; in the original walks may get into the list
        CALL NEWLST             ; A is 0 then
        STA STATUS
        LXI H,BINS
        LXI D,BINS+1
        LXI B,2*256-1
        MOV M,A                 ; all counts are 0
        LDIR                    ; both pages: the second follows the first
        LXI H,R.DATA+X.CRC
        LXI D,CHECK
        CALL FLIP               ; CHECK continues from the request's CRC
        CALL EXHAUS
        CALL CHKINT
        CALL NEWRPL
        JMPR TELL
..ATKS: LXI D,X.ATKS            ; falls into XREFUS
XREFUS: MVI C,E.ARG
        JMP PUTERR

; TELL - sends the reply: count, check, status, histogram.
TELL:   XCHG                    ; DE = P.DATA
        LHLD R.DATA+X.CNT
        LBCD XLEFT
        ORA A
        DSBC B                  ; how many were played out
        XCHG
        MOV M,E
        INX H
        MOV M,D
        INX H
        XCHG
        LXI H,CHECK
        CALL FLIP
        LDA STATUS
        STAX D
        INX D
        LXI H,BINS              ; low bytes; the high ones are a page further
        MVI B,BINNUM
..BIN:  MOV A,M
        STAX D
        INX D
        INR H                   ; the page of the high bytes
        MOV A,M
        STAX D
        INX D
        DCR H                   ; back to the low bytes
        INX H
        DJNZ ..BIN
        MVI A,2+4+1+2*BINNUM
        STA P.LEN
        JMP PUTFRM

        .DEFINE LDI7=[
        LDI
        LDI
        LDI
        LDI
        LDI
        LDI
        LDI
]

; EXHAUS - runs XCHNG for the arrays of a space from that of WHITES, BLACKS, P1 and T3 on, as many
; XLEFT, which is not 0; afterwards XLEFT is the number that the space did not have.
EXHAUS: CALL PAIR
        LHLD XLEFT
        MOV A,H
        ORA L                   ; as many as were requested
        RZ
        MVI A,PAWN              ; the next pair begins with a pawn
        STA T3
        LXI H,P1
        MOV A,M
        SUI KING                ; a pawn of the same colour again
        MOV M,A
        RLC
        LXI H,BLACKS            ; a Black piece is defended by Black
        LXI B,WHITES            ; the attackers
        JRC ..DEFS
        MOV L,C
        MOV H,B
        LXI B,BLACKS            ; a White piece: White defends, Black attacks
..DEFS: CALL SECNXT             ; the next defenders
        JRNZ EXHAUS             ; Z: the defenders have wrapped around
        MOV L,C                 ; all defenders have been there: the next attackers
        MOV H,B
        CALL SECNXT             ; the next attackers
        JRNZ EXHAUS
        RET                     ; Z: the attackers have, too; the space is at its end

; PAIR - runs XCHNG between the two sections for the pieces from T3 up to the king, or as many as
; XLEFT says, and takes them off XLEFT.
PAIR:   LXI H,RESIDS
        LDA T3
        MOV L,A                 ; RESIDS starts a page: L is the type
        PUSH H                  ; where the first residue goes
        MVI A,KING+1
        SUB L                   ; pieces up to the king
        MOV C,A
        MVI B,0                 ; BC = how many there may be
        LHLD XLEFT
        ORA A
        DSBC B                  ; are as many requested?
        JRNC ..SET
        MOV A,C                 ; fewer are requested
        ADD L                   ; C + (what is left - C): all that are left
        MOV C,A
        LXI H,0                 ; nothing is left after them
..SET:  SHLD XLEFT
        MOV A,C
        STA TURNS
        PUSH B                  ; C = how many, for CRC32
..NEXT: LHLD WHITES             ; XCHNG consumes the array: reload both sections
        LXI D,ATKLST
        LDI7
        LHLD BLACKS             ; DE has come to BACT
        LDI7
        CALL XCHNG              ; the residue in E
        LXI H,BINS              ; BINS starts a page: L is the residue
        MOV L,E
        INR M
        JRNZ ..KEEP             ; a low byte is full
        INR H                   ; the high byte, in the next page
        INR M
..KEEP: LXI H,P1                ; on to the next piece
        INR M
        LXI H,T3
        MOV A,M                 ; the type, before the increment
        INR M
        LXI H,RESIDS
        MOV L,A                 ; a place for each type
        MOV M,E
        LXI H,TURNS
        DCR M
        JRNZ ..NEXT
        POP B
        POP H
        MOV B,C                 ; bytes for CRC32, one a piece
        JMP CRC32
        .END
