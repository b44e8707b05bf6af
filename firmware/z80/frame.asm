; Frames of the wire protocol: 00, COBS of LEN SEQ TYPE PAYLOAD CRC, 00 (docs/PROTOCOL.md).

        .IDENT FRAME
        .INTERN GETFRM,PUTFRM,SENDFM,PUTERR,NEWRPL,REQ,R.LEN,R.TYPE,R.DATA,RPL,P.LEN,P.TYPE,P.DATA
        .EXTERN GETC,PUTC,OVRUN,CRC16,BANNER,RXIN,RXOUT,RXWAIT,RXPAGE
        .EXTERN TXIN,TXOUT,TXGO,TXREST,PCSENT
        .INSERT wire.asm
        .INSERT cobs.asm

CR      == 0DH
SLICE   == 64           ; bytes encoded at a time, as soon as the ring has room for them

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
P.DATA: .BLKB MAXPAY+3          ; with room for SENDFM

        .LOC .PROG.
; FETCH - takes the byte at DE from the receive ring into A; DE is after it then. RXOUT is left
; as it is, but for its page.
        .DEFINE FETCH=[
        LDA RXIN
        CMP E
        CZ RXWAIT               ; perhaps none is there
        LDAX D
        INR E
        CZ RXPAGE
]

; DROP - takes the rest of a frame that is too long.
        .DEFINE DROP=[
..LONG: FETCH
        ORA A
        JRNZ ..LONG
        JMPR ..BAD
]

; GETFRM - waits for the next good frame. Corrupted ones are answered, a carriage return outside a
; frame gets the banner.
;   Entry:    interrupts on
;   Exit:     R.LEN, R.TYPE and R.DATA are the request
;   Errors:   a damaged frame is answered by the error reply E.DMGD or E.OVRN
;   Clobbers: AF, BC, DE, HL
;   Stack:    24 bytes
;   Cycles:   as long as it takes
GETFRM: CALL GETC
        CPI CR                  ; a person at a terminal?
        CZ BANNER               ; returns with A = 0, as after a delimiter
        ORA A                   ; only a delimiter opens a frame
        JRNZ GETFRM
        LXI H,REQ
        MVI B,MAXENC            ; room for bytes, one more than a frame can have
        LDED RXOUT              ; no call for each byte
..OPEN: FETCH                   ; how many bytes follow up to the next zero, and one
        ORA A
        JRZ ..OPEN              ; two delimiters in a row
        DECODE FETCH,..BAD,DROP,..LONG
        SDED RXOUT
        MVI A,MAXENC
        SUB B                   ; how many are left over
        MOV B,A                 ; bytes of the frame
        CALL GOODFM
        RZ
        JMPR ..SAY
..BAD:  SDED RXOUT
..SAY:  XRA A                   ; neither SEQ nor TYPE can be trusted
        STA R.SEQ               ; for the error reply
        STA R.TYPE
        LXI H,OVRUN
        ORA M                   ; was it the receiver that lost a byte?
        MVI M,0
        LXI D,0
        MVI C,E.DMGD
        JRZ ..ERR
        MVI C,E.OVRN
..ERR:  CALL PUTERR
        JMP GETFRM

; GOODFM - Z set when the B bytes at REQ have the length LEN and their CRC matches.
GOODFM: LDA R.LEN
        CPI MAXPAY+1            ; LEN comes first: it must make sense
        JRNC ..BAD
        ADI BODY
        CMP B                   ; as many bytes as LEN?
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
        STA P.LEN               ; no payload until the caller sets a length
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
;   Stack:    18 bytes
;   Cycles:   1757..35000 when the ring has room
PUTFRM: LDA R.SEQ               ; the host finds the request by it
        STA P.SEQ
        LXI H,RPL               ; falls into SENDFM

; SENDFM - sends a frame. It is encoded into the transmit ring, a slice at a time; each slice leaves
; up to its last whole group.
;   Entry:    HL = LEN, SEQ, TYPE and the payload, and three bytes of room
;   Exit:     it will be sent
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    18 bytes
;   Cycles:   1728..35000 when the ring has room
SENDFM: MOV A,M
        ADI BODY-2              ; LEN, SEQ, TYPE and the payload
        MOV C,A
        MVI B,0
        PUSH H
        PUSH B
        CALL CRC16              ; it is appended where the room is
        POP B
        MOV M,E                 ; HL is after the payload
        INX H
        MOV M,D
        INX H
        MVI M,0                 ; ends the last group
        POP H
        MOV A,C
        ADI 3                   ; the check and that zero
..AGIN: PUSH H
        PUSH PSW                ; A = bytes to encode
        MOV B,A
        XRA A
        STA PCSENT              ; PCRPT sets it
        CALL PUTC               ; the delimiter before the frame
        LDED TXIN
        MOV C,E                 ; where the first group's code goes
        INR E                   ; the ring is one page
..LOOK: DI                      ; or the expected interrupt may come before HLT
        LDA PCSENT              ; has PCRPT used the ring meanwhile?
        ORA A
        JRNZ ..ONCE
..NEXT: LDA TXOUT
        SUB E                   ; how many the ring has room for
        CMP B
        JRNC ..ALL              ; for all that are left
        CPI SLICE
        JRNC ..SOME
        CALL TXREST
        JMPR ..LOOK
..ALL:  MOV A,B
..SOME: EI
        SUB B                   ; minus those left after this slice
        PUSH PSW
        ADD B
        MOV B,A                 ; bytes of this slice
..BYTE: MOV A,M
        ORA A
        JRZ ..ZERO
        STAX D
        INX H
        INR E
        DJNZ ..BYTE
        JMPR ..OUT
..ZERO: MOV A,E
        SUB C                   ; the code is one more than the bytes
        MOV E,C
        STAX D
        ADD E
        MOV C,A                 ; the next code stands for this zero
        MOV E,A
        INR E
        INX H
        DJNZ ..BYTE
..OUT:  POP PSW
        NEG
        MOV B,A                 ; bytes left
        DI
        LDA PCSENT
        ORA A
        JRNZ ..ONCE
        MOV A,C                 ; up to the code that is not known yet
        STA TXIN
        CALL TXGO
        MOV A,B
        ORA A
        JRNZ ..NEXT             ; with interrupts off, so that PCRPT cannot come between
        EI
        POP PSW
        POP H
        XRA A
        JMP PUTC                ; the delimiter, in the place of the next code
..ONCE: EI
        POP PSW
        POP H
        JMPR ..AGIN             ; the whole frame once more
        .END
