; The application's requests on what residues mean: the highest ones of a position, and how one came
; about.

        .IDENT ANALYS
        .INTERN DOPNTS,DOTRCE
        .EXTERN UNPACK,REFUSE,PINFND,POINTS,MOVER,PTSL,ALLST,STATUS
        .EXTERN SETPCE,XCHNG,TRACE,NEWARR,TBASE,T3
        .EXTERN CHKINT,NEWRPL,PUTFRM,R.DATA,P.LEN,P.DATA
        .INSERT wire.asm
        .INSERT sargon.asm

; DOPNTS - answers POINTS.
;   Entry:    R.DATA = the request
;   Exit:     the reply is on its way
;   Errors:   bytes that mean nothing are answered by the error reply
;   Clobbers: everything
;   Stack:    40 bytes
;   Cycles:   9000..4000000
DOPNTS: LDA R.DATA+32
        ANI 7FH                 ; White or Black
        LXI D,32                ; the mover is at offset 32
        JNZ REFUSE              ; neither White nor Black
        LXI D,R.DATA            ; the squares
        CALL UNPACK
        JC REFUSE
        LHLD R.DATA+32          ; L = side that has moved, H = destination
        SHLD MOVER
        CALL PINFND             ; before POINTS: pins bar attackers
        LXI H,XCHNG
        CALL POINTS             ; with the battles played out by XCHNG alone
        CALL CHKINT
        CALL NEWRPL
        XCHG                    ; DE = P.DATA
        LXI H,PTSL
        LXI B,PTSLEN
        LDIR
        LDA ALLST
        STAX D                  ; statuses of all squares
        MVI A,PTSLEN+1
        STA P.LEN
        JMP PUTFRM

; DOTRCE - answers TRACE: the exchange as XCHNG plays it, and step by step.
;   Entry:    R.DATA = the request
;   Exit:     the reply is on its way
;   Errors:   a piece or value that means nothing is answered by the error reply
;   Clobbers: everything
;   Stack:    26 bytes
;   Cycles:   9000..90000
DOTRCE: LDA R.DATA
        CALL SETPCE
        LXI D,0                 ; the piece is at offset 0
        JC REFUSE
        LDA R.DATA+1
        DCR A
        CPI 15                  ; 1 to 15
        INX D                   ; the points at offset 1
        JNC REFUSE
        LXI H,R.DATA+2
        CALL NEWARR             ; for XCHNG, which uses it up
        LXI H,R.DATA+1-PVALUE   ; the points at stake in place of the table's
        SHLD T3
        CALL XCHNG
        CALL CHKINT
        LXI H,TBASE             ; the table again
        SHLD T3
        CALL NEWRPL
        MOV M,E                 ; the residue
        LXI H,R.DATA+2
        CALL NEWARR             ; and once more for TRACE
        XRA A
        STA STATUS              ; drop XCHNG's: only EXCHANGE reports it
        LXI X,P.DATA+2          ; records follow residue and status
        LDA R.DATA+1
        CALL TRACE
        PUSH X
        POP H                   ; HL = after the last record
        LXI D,P.DATA
        ORA A                   ; DSBC takes carry along
        DSBC D                  ; the length of the payload
        MOV A,L
        STA P.LEN
        LDA STATUS
        STA P.DATA+1
        JMP PUTFRM
        .END
