; The driver of the 68B50, served by interrupt; the rings are in ring.asm.
;
; UARTC and UARTD, its two ports, are defined by the builder from the board profile.
;
; The chip can't hold RTS high and interrupt for the transmitter at the same time. So while the host is
; held off, sending rests, and whoever takes bytes out of the receive ring lets both go on.

        .IDENT ACIA
        .INTERN UINIT,USERV,PUTC,UDRAIN,HOLDUP,LETGO
        .EXTERN RINIT,NEWPGE,TXNEXT,RXIN,TXIN,TXOUT,ZEROS,MISSED

; Control register: bits 1-0 clock (10 = divided by 64), bits 4-2 word (101 = 8 bits, no parity, 1 stop
; bit), bits 6-5 transmitter (01 = interrupt, 10 = RTS high), bit 7 receive interrupt.
RESET   == 03H
LISTEN  == 96H          ; receive interrupt, RTS low
SEND    == 0B6H         ; the same with the transmit interrupt
HOLD    == 0D6H         ; receive interrupt, RTS high

        .LOC .DATA.
CONTRL: .BLKB 1         ; what the control register holds

        .LOC .PROG.
; UINIT - resets the chip and empties the rings.
;   Entry:    interrupts off
;   Exit:     the chip listens; interrupts still off
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    2 bytes
;   Cycles:   253
UINIT:  CALL RINIT
        MVI A,RESET
        OUT UARTC
        MVI A,LISTEN
        STA CONTRL
        OUT UARTC
        RET

; USERV - the interrupt service.
;   Entry:    interrupts off
;   Exit:     interrupts on, by RETI
;   Errors:   a byte lost by the chip or for want of room sets OVRUN
;   Clobbers: nothing
;   Stack:    12 bytes
;   Cycles:   103..616
USERV:  PUSH PSW
        PUSH H
        IN UARTC
        RRC
        JRNC ..SENT             ; nothing received
        ANI 10H                 ; overrun, one place further down
        IN UARTD
        JRNZ ..LOST             ; the byte was read before: one behind it is lost
        LHLD RXIN
        MOV M,A
        ORA A
        CZ ZEROS
        INR L
        JRZ ..PAGE
..PUT:  SHLD RXIN
..DONE: POP H
        POP PSW
        EI
        RETI
..PAGE: CALL NEWPGE
        JRNC ..PUT
..LOST: CALL MISSED
        JMPR ..DONE
..SENT: RRC
        JRNC ..DONE
        LDA CONTRL
        CPI SEND
        CZ FEED
        JMPR ..DONE

; FEED - gives the transmitter the next byte; with none left its interrupt goes off.
FEED:   CALL TXNEXT
        JRNC ..NONE
        OUT UARTD
        RET
..NONE: MVI A,LISTEN
        JMPR SETCTL

; HOLDUP - holds the host off, and the transmitter.
HOLDUP: MVI A,HOLD

; SETCTL - sets the control register to A.
SETCTL: STA CONTRL
        OUT UARTC
        RET

; LETGO - lets the host go on if it was held off, and the transmitter.
LETGO:  LDA CONTRL
        CPI HOLD
        RNZ
        MVI A,SEND
        JMPR SETCTL

; PUTC - puts a byte into the transmit ring, waiting while that is full.
;   Entry:    A = the byte; interrupts on
;   Exit:     it will be sent
;   Errors:   none
;   Clobbers: AF
;   Stack:    6 bytes
;   Cycles:   214 when there is room
PUTC:   PUSH H
        PUSH B
        MOV B,A
..WAIT: DI
        LHLD TXIN
        MOV M,B
        INR L
        LDA TXOUT
        CMP L
        JRNZ ..ROOM
        CALL POLL
        EI
        JMPR ..WAIT
..ROOM: SHLD TXIN
        LDA CONTRL
        CPI LISTEN
        MVI A,SEND
        CZ SETCTL
        EI
        POP B
        POP H
        RET

; UDRAIN - waits until everything has left the transmit ring and the chip.
;   Entry:    interrupts on
;   Exit:     the line is quiet
;   Errors:   none
;   Clobbers: AF
;   Stack:    4 bytes
;   Cycles:   up to 165000
UDRAIN: PUSH H
..WAIT: DI
        CALL POLL
        LHLD TXOUT
        LDA TXIN
        EI
        CMP L
        JRNZ ..WAIT
        LXI H,400               ; the last two characters: 1280 T-states and more
..LAST: DCX H
        MOV A,H
        ORA L
        JRNZ ..LAST
        POP H
        RET

; POLL - with the transmit interrupt held off by RTS, sends a byte if the chip can take one.
POLL:   LDA CONTRL
        CPI HOLD
        RNZ
        IN UARTC
        BIT 1,A
        RZ
        PUSH H
        CALL TXNEXT
        POP H
        RNC
        OUT UARTD
        RET
        .END
