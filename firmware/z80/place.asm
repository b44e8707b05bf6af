; Where the program is, told to a host that has waited too long: the heartbeat of a program that takes nothing from
; the receive ring any more (docs/PROTOCOL.md, "Where are you?").
;
; The service sees eight zeros in a row, which no request has. It lets the program return to PLACE before it goes on.

        .IDENT PLACE
        .INTERN ZEROS,FULL,ASKED
        .EXTERN RXIN,OVRUN,SENDFM,UDRAIN
        .INSERT wire.asm

        .LOC .DATA.
FOUND:  .BLKW 1         ; where the program was
ASKED:  .BLKB 1         ; not 0 from then on until that was told
ANSWER: .BLKB BODY+2    ; the frame that tells it

        .LOC .PROG.
; FULL - for the service: a byte was lost for want of room.
;   Entry:    the byte where RXIN points; interrupts off; AF, HL and the place that was interrupted pushed, called by the service itself
;   Exit:     OVRUN is not 0; as ZEROS when this makes eight zeros lost in a row
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    4 bytes
;   Cycles:   72..200
FULL:   LHLD RXIN
        MOV A,M
        LXI H,OVRUN
        ORA A
        JRZ ..ZERO
        MVI M,0
..ZERO: INR M                   ; counts zeros, or stands at 1
        MOV A,M
        CPI ZRUN
        RNZ
        MVI M,1
        JMPR ASK

; ZEROS - for the service: a zero was received. With seven more before it on its page the program is to tell its place.
;   Entry:    HL = behind it; interrupts off; AF, HL and the place that was interrupted pushed, called by the service itself
;   Exit:     the service returns to where it came from, or to PLACE
;   Errors:   none
;   Clobbers: AF
;   Stack:    4 bytes
;   Cycles:   22..450
ZEROS:  MOV A,L
        CPI ZRUN
        RC
        PUSH H
        PUSH B
        MVI B,ZRUN
        XRA A
..BACK: DCR L
        CMP M
        JRNZ ..OUT
        DJNZ ..BACK
..OUT:  POP B
        POP H
        RNZ

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
        LXI H,ANSWER
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
        EI                      ; takes effect behind RET: however many zeros come, the stack does not grow
        RET
        .END
