; Frames of the wire protocol: 00, COBS of LEN SEQ TYPE PAYLOAD CRC, 00 (docs/PROTOCOL.md).

        .IDENT FRAME
        .INTERN GETFRM,PUTFRM,SENDFM,PUTERR,NEWRPL,REQ,R.LEN,R.TYPE,R.DATA,RPL,P.LEN,P.TYPE,P.DATA
        .EXTERN GETC,PUTC,OVRUN,CRC16,BANNER
        .INSERT wire.asm

CR      == 0DH

        .LOC .DATA.
REQ:                    ; the request, decoded while it comes in
R.LEN:  .BLKB 1
R.SEQ:  .BLKB 1
R.TYPE: .BLKB 1
R.DATA: .BLKB MAXPAY+5
RPL:                    ; the reply
P.LEN:  .BLKB 1
P.SEQ:  .BLKB 1
P.TYPE: .BLKB 1
P.DATA: .BLKB MAXPAY+2

        .LOC .PROG.
; GETFRM - waits for the next good frame. Damaged ones are answered, a carriage return outside a
; frame gets the banner.
;   Entry:    interrupts on
;   Exit:     R.LEN, R.TYPE and R.DATA hold the request
;   Errors:   a damaged frame is answered by the error reply E.DMGD or E.OVRN
;   Clobbers: AF, BC, DE, HL
;   Stack:    24 bytes
;   Cycles:   as long as it takes
GETFRM: CALL GETC
        CPI CR                  ; somebody at a terminal?
        CZ BANNER               ; returns with A = 0, as after a delimiter
        ORA A                   ; only a delimiter opens a frame
        JRNZ GETFRM
        LXI H,REQ
        MVI B,MAXENC            ; room for bytes, one more than a frame can have
..OPEN: CALL GETC               ; how many bytes follow up to the next zero, and one
        ORA A
        JRZ ..OPEN              ; two delimiters in a row
..GRP:  MOV C,A                 ; one more than the bytes of this group
..COPY: DCR C
        JRZ ..ZERO              ; the group is complete
        CALL GETC
        ORA A                   ; no byte of a group is 0
        JRZ ..BAD               ; the frame ends within a group
        MOV M,A
        INX H
        DJNZ ..COPY
..LONG: CALL GETC               ; too long: its bytes are let go
        ORA A
        JRNZ ..LONG
        JMPR ..BAD
..ZERO: CALL GETC
        ORA A
        JRZ ..END               ; the last group's zero is not there
        MVI M,0                 ; a group stands for its bytes and a zero
        INX H
        DJNZ ..GRP              ; no more than a frame has room for
        JMPR ..LONG
..END:  MVI A,MAXENC
        SUB B                   ; how many are left over
        MOV B,A                 ; bytes of the frame
        CALL GOODFM
        RZ
..BAD:  XRA A                   ; neither SEQ nor TYPE can be trusted
        STA R.SEQ               ; for the error reply
        STA R.TYPE
        LXI H,OVRUN
        ORA M                   ; was it the receiver that lost a byte?
        MVI M,0
        MVI C,E.DMGD
        JRZ ..SAY
        MVI C,E.OVRN
..SAY:  LXI D,0
        CALL PUTERR
        JMPR GETFRM

; GOODFM - Z set when the B bytes at REQ are as long as LEN says and their CRC is right.
GOODFM: LDA R.LEN
        CPI MAXPAY+1            ; LEN comes first: it must make sense
        JRNC ..BAD
        ADI BODY
        CMP B                   ; as many bytes as it says?
        RNZ
        SUI 2                   ; without the check itself
        MOV C,A
        MVI B,0
        LXI H,REQ
        CALL CRC16
        MOV A,M                 ; low byte of the check that came with it
        CMP E
        RNZ
        INX H
        MOV A,M                 ; high byte
        CMP D
        RET
..BAD:  ORA A                   ; not zero
        RET

; NEWRPL - starts the reply to the request: its type, no payload yet.
;   Entry:    R.TYPE = the request's type
;   Exit:     P.TYPE set, P.LEN 0, HL = P.DATA
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   70
NEWRPL: LDA R.TYPE
        ORI T.REPL              ; bit 7 is set in a reply
        STA P.TYPE
        XRA A
        STA P.LEN               ; no payload, until the caller says otherwise
        LXI H,P.DATA
        RET

; PUTERR - sends the error reply.
;   Entry:    C = code, DE = detail
;   Exit:     it will be sent
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    18 bytes
;   Cycles:   5000..9000
PUTERR: LXI H,P.DATA
        MOV M,C                 ; code
        INX H
        LDA R.TYPE
        MOV M,A                 ; type of the request
        INX H
        MOV M,E                 ; detail
        INX H
        MOV M,D
        MVI A,T.ERR
        STA P.TYPE
        MVI A,4
        STA P.LEN               ; falls into PUTFRM

; PUTFRM - sends the reply.
;   Entry:    P.LEN, P.TYPE and P.DATA
;   Exit:     it will be sent, under the request's SEQ
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    8 bytes
;   Cycles:   4100..140000 when the ring has room
PUTFRM: LDA R.SEQ               ; the host finds the request by it
        STA P.SEQ
        LXI H,RPL               ; falls into SENDFM

; SENDFM - sends a frame.
;   Entry:    HL = LEN, SEQ, TYPE and the payload, and two bytes of room
;   Exit:     it will be sent
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    8 bytes
;   Cycles:   4100..140000 when the ring has room
SENDFM: MOV A,M
        ADI BODY-2              ; LEN, SEQ, TYPE and the payload
        MOV C,A
        MVI B,0
        PUSH H
        PUSH B
        CALL CRC16              ; it is appended where the two bytes of room are
        POP B
        MOV M,E                 ; HL is after the payload
        INX H
        MOV M,D
        INR C                   ; the check is stuffed like the rest
        INR C
        MOV D,C                 ; bytes to encode
        POP H
        XRA A
        CALL PUTC               ; the delimiter before the frame
..GRP:  CALL SPAN
        MOV A,C
        CALL PUTC               ; the group's code
..COPY: DCR C
        JRZ ..ZERO              ; the bytes of the group are out
        MOV A,M
        CALL PUTC
        INX H
        DCR D
        JMPR ..COPY
..ZERO: MOV A,D
        ORA A                   ; was that the last group?
        JRZ ..END
        INX H                   ; the zero itself is not sent
        DCR D
        JMPR ..GRP
..END:  JMP PUTC                ; A is 0: the delimiter

; SPAN - C = one more than the bytes at HL before the next zero, of D bytes at most.
SPAN:   PUSH H
        MVI C,1                 ; the code is one more than the bytes
        MOV B,D
        INR B
..NEXT: DCR B
        JRZ ..DONE
        MOV A,M
        ORA A                   ; a zero ends the group
        JRZ ..DONE
        INX H
        INR C
        JMPR ..NEXT
..DONE: POP H
        RET
        .END
