; Where the program is, told to a host that has waited too long: the heartbeat of a program that
; takes nothing from the receive ring any more (docs/PROTOCOL.md, "Where are you?").
;
; The service sees eight zeros in a row, which no request has. It lets the program return to PLACE
; before it goes on.

        .IDENT PLACE
        .INTERN ZEROS,MISSED,ASKED
        .EXTERN RXIN,OVRUN,SENDFM,UDRAIN
        .INSERT wire.asm

        .LOC .DATA.
ZLAST:  .BLKB 1         ; low half of where the last zero was put
ZCOUNT: .BLKB 1         ; zeros in a row
FOUND:  .BLKW 1         ; where the program was
ASKED:  .BLKB 1         ; not 0 from then on until that was told
PLCFRM: .BLKB BODY+2    ; the frame that tells it

        .LOC .PROG.
; MISSED - for the service: a byte is lost.
;   Entry:    where RXIN points is the byte for which there is no room; interrupts off
;   Exit:     OVRUN is not 0
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   58..79
MISSED: MVI A,1
        STA OVRUN
        LHLD RXIN
        MOV A,M
        ORA A
        RZ
        XRA A
        STA ZCOUNT
        RET

; ZEROS - for the service: a zero was received. With seven more before it the program is to tell its
; place.
;   Entry:    HL = where it was put; interrupts off; called by the service, which has pushed AF and
;             HL
;   Exit:     the service returns to where it came from, or to PLACE
;   Errors:   none
;   Clobbers: AF
;   Stack:    4 bytes
;   Cycles:   104..283
ZEROS:  LDA ZLAST
        SUB L
        INR A
; It is behind the last one, or in its place where there is no more room.
        CPI 2
        MOV A,L
        STA ZLAST
        LDA ZCOUNT
        JRC ..MORE
        XRA A
..MORE: INR A
        STA ZCOUNT
        CPI ZRUN
        RNZ                     ; falls into ASK

; ASK - makes the service return to PLACE, unless that is under way.
ASK:    LDA ASKED
        ORA A
        RNZ
        INR A
        STA ASKED
        PUSH H
        PUSH D
        LXI H,10                ; what is pushed: DE, HL, our return, then HL and AF by the service
        DAD SP
        LXI D,PLACE
        MOV A,M
        MOV M,E
        MOV E,A
        INX H
        MOV A,M
        MOV M,D
        MOV D,A
        SDED FOUND
        POP D
        POP H
        RET

; PLACE - tells where the program was, and returns there.
;   Entry:    a return from the service; FOUND = the place; interrupts on
;   Exit:     the place is told
;   Errors:   none
;   Clobbers: nothing
;   Stack:    20 bytes
;   Cycles:   up to 170000
PLACE:  PUSH H
        LHLD FOUND
        XTHL
        PUSH PSW
        PUSH B
        PUSH D
        PUSH H
        LDED FOUND
        LXI H,PLCFRM
        PUSH H
        MVI M,2                 ; LEN
        INX H
        MVI M,0                 ; SEQ: it is the answer to no request
        INX H
        MVI M,T.PLCE
        INX H
        MOV M,E
        INX H
        MOV M,D
        POP H
        CALL SENDFM
        CALL UDRAIN             ; without the transmitter's interrupt, too
        POP H
        POP D
        POP B
        XRA A
        DI
        STA ASKED
        POP PSW
; Takes effect behind RET: however many zeros come, the stack does not grow.
        EI
        RET
        .END
