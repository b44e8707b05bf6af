; The driver of a 16C550, served by interrupt; the rings are in ring.asm.
;
; UARTC and UARTD, its line status and data registers, are defined by the builder from the board
; profile, as is UARTDV, its divisor. Some modules wire /DTR to the host's CTS, others /RTS: both
; are set alike.

        .IDENT NS550
        .INTERN UINIT,USERV,UDRAIN,HOLDUP,LETGO,TXGO,TXREST
        .EXTERN RINIT,NEWPGE,TXNEXT,IDLE,RXIN,TXIN,TXOUT,TXENDS,ZEROS,MISSED
        .INSERT ns550r.asm

; Line status, turned right by one: then carry = a character is there.
ERRORS  == 0FH          ; overrun, parity, framing, break; reading clears them
EMPTY   == 10H          ; the transmit FIFO is empty
B.FIFO  == 0FH          ; which has room for one character more than this

        .LOC .DATA.
ISSET:  .BLKB 1         ; the modem control register
FOUND:  .BLKB 1         ; as it was

        .LOC .PROG.
; UINIT - sets the chip up and empties the rings. Beside a stock monitor the rate stays as it was.
;   Entry:    interrupts off
;   Exit:     the chip listens; interrupts still off
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    2 bytes
;   Cycles:   353
UINIT:  CALL RINIT
        .IFE HOSTED,[
        MVI A,DLAB
        OUT LCR
        MVI A,UARTDV
        OUT UARTD
        XRA A
        OUT IER                 ; the high byte of the divisor
        MVI A,FORMAT
        OUT LCR
        ]
        IN MCR
        STA FOUND
        MVI A,FIFO
        OUT FCR
        MVI A,LISTEN
        STA ISSET
        OUT MCR
        MVI A,RXINTS
        OUT IER
        RET

; USERV - the interrupt service.
;   Entry:    interrupts off
;   Exit:     interrupts on, by RETI
;   Errors:   a byte lost by the chip or for want of room, or one with an error, sets OVRUN
;   Clobbers: nothing
;   Stack:    10 bytes
;   Cycles:   197..3299
USERV:  PUSH PSW
        PUSH H
..NEXT: IN UARTC
        RRC                     ; bit 0: a character is there
        JRNC ..SENT             ; nothing received
        ANI ERRORS
        JRNZ ..BAD
        IN UARTD
        LHLD RXIN
        MOV M,A                 ; there is always room for one
        ORA A
        CZ ZEROS                ; zeros may be a call (place.asm)
        INR L                   ; pages are the unit of all checks
        JRZ ..PAGE
..PUT:  SHLD RXIN
        JMPR ..NEXT             ; up to 16 may wait in the chip
..PAGE: CALL NEWPGE
        JRNC ..PUT
..GONE: CALL MISSED             ; reported to the program by OVRUN
        JMPR ..NEXT
..BAD:  IN UARTD
        JMPR ..GONE
..SENT: ANI EMPTY
        JRZ ..DONE
        LHLD TXOUT
..FILL: LDA TXIN
        CMP L
        JRZ ..NONE
        MOV A,M
        OUT UARTD
        INR L
        MOV A,L
        ANI B.FIFO              ; never more than fit: up to each 16th place of the ring
        JRNZ ..FILL
        SHLD TXOUT
..DONE: POP H
        POP PSW
        EI                      ; takes effect after RETI: no second level
        RETI
..NONE: SHLD TXOUT
        LXI H,TXENDS
        INR M
        MVI A,RXINTS            ; or it would interrupt again and again
        OUT IER
        JMPR ..DONE

        .DEFINE CONTRL[]=[
        OUT MCR
]
RESUME  == LISTEN
        .INSERT flow.asm

; TXGO - has the transmitter start if it rests.
;   Entry:    interrupts off
;   Exit:     what is in the transmit ring will be sent
;   Errors:   none
;   Clobbers: A
;   Stack:    0 bytes
;   Cycles:   28
TXGO:   MVI A,RXINTS+TXINTS     ; if there is nothing to send, USERV turns it off
        OUT IER
        RET

        .DEFINE STATUS[]=[
        IN UARTC
]
QUIET   == 40H          ; FIFO and shift register are empty
        .INSERT drain.asm

        .IFN HOSTED,[
        .INTERN UHAND,UMINE

; UHAND - leaves the chip to another program.
;   Entry:    Z set for one that polls it, clear for one that it is to interrupt; interrupts off
;   Exit:     it listens
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   71..73
UHAND:  MVI A,0
        JRZ ..SET
        MVI A,RXINTS            ; MVI leaves Z
..SET:  OUT IER
        LDA FOUND
        OUT MCR
        RET

; UMINE - tests whether the chip is a 16C550: at rest its register of interrupts has only bit 0 set,
; and those that show the FIFO.
;   Entry:    nothing
;   Exit:     Z set if it is
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   35
UMINE:  IN IIR
        ANI 3FH
        CPI 1
        RET
        ]
        .END
