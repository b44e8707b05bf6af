; The driver of the 68B50: a receive ring of 1024 bytes and a transmit ring of 256, served by interrupt.
;
; UARTC and UARTD, its two ports, are defined by the builder from the board profile.
;
; The chip can't hold RTS high and interrupt for the transmitter at the same time. So while the host is
; held off, sending rests, and whoever takes bytes out of the receive ring lets both go on.
;
; How full the receive ring is matters only where a pointer comes to a new page, so that nothing else is done
; for most bytes. The service never enters the page that is being emptied: 768 bytes fit at least.

        .IDENT ACIA
        .INTERN UINIT,USERV,UTEST,GETC,PUTC,UDRAIN,OVRUN,WINDOW

; Control register: bits 1-0 clock (10 = divided by 64), bits 4-2 word (101 = 8 bits, no parity, 1 stop
; bit), bits 6-5 transmitter (01 = interrupt, 10 = RTS high), bit 7 receive interrupt.
RESET   == 03H
LISTEN  == 96H          ; receive interrupt, RTS low
SEND    == 0B6H         ; the same with the transmit interrupt
HOLD    == 0D6H         ; receive interrupt, RTS high
WINDOW  == 750          ; what the host may send before it has an answer: three of the longest frames

        .LOC .DATA.
RXRING: .BLKB 1024      ; the layout puts them where bit 10 of the address is clear in all of this ring
B.WRAP  == 2            ; that bit in the high byte
TXRING: .BLKB 256
RXIN:   .BLKW 1         ; where the next byte received goes
RXOUT:  .BLKW 1         ; where the next byte is taken
TXIN:   .BLKW 1
TXOUT:  .BLKW 1
CONTRL: .BLKB 1         ; what the control register holds
OVRUN:  .BLKB 1         ; not 0 when a byte was lost since this was last cleared

        .LOC .PROG.
; UINIT - resets the chip and empties the rings.
;   Entry:    interrupts off
;   Exit:     the chip listens; interrupts still off
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   213
UINIT:  LXI H,RXRING
        SHLD RXIN
        SHLD RXOUT
        LXI H,TXRING
        SHLD TXIN
        SHLD TXOUT
        XRA A
        STA OVRUN
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
;   Stack:    6 bytes
;   Cycles:   103..279
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
        INR L
        JRZ ..PAGE
..PUT:  SHLD RXIN
..DONE: POP H
        POP PSW
        EI
        RETI
..PAGE: INR H
        RES B.WRAP,H
        LDA RXOUT+1
        SUB H
        JRZ ..LOST              ; that page is being emptied
        ANI 3
        DCR A
        MVI A,HOLD              ; it is the next one
        CZ SETCTL
        JMPR ..PUT
..LOST: MVI A,1
        STA OVRUN
        JMPR ..DONE
..SENT: RRC
        JRNC ..DONE
        LDA CONTRL
        CPI SEND
        CZ FEED
        JMPR ..DONE

; FEED - gives the transmitter the next byte; with none left its interrupt goes off.
FEED:   LHLD TXOUT
        LDA TXIN
        CMP L
        MVI A,LISTEN
        JRZ SETCTL
        MOV A,M
        OUT UARTD
        INR L
        SHLD TXOUT
        RET

; SETCTL - sets the control register to A.
SETCTL: STA CONTRL
        OUT UARTC
        RET

; UTEST - looks whether a byte is there.
;   Entry:    nothing
;   Exit:     Z clear when one is
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   41..71
UTEST:  LDA RXOUT
        LXI H,RXIN
        CMP M
        RNZ
        LDA RXOUT+1
        INX H
        CMP M
        RET

; GETC - waits for a byte, halted while there is none.
;   Entry:    interrupts on
;   Exit:     A = the byte
;   Errors:   none
;   Clobbers: F
;   Stack:    4 bytes
;   Cycles:   105..325 when a byte is there
GETC:   PUSH H
..WAIT: LHLD RXOUT
        LDA RXIN                ; the service may change the pointer meanwhile, but never to a place with
        CMP L                   ; nothing behind it
        JRZ ..SAME
..TAKE: MOV A,M
        INR L
        JRZ ..PAGE
        SHLD RXOUT
        POP H
        RET
..SAME: DI
        LDA RXIN
        CMP L
        JRNZ ..SOME
        LDA RXIN+1
        CMP H
        JRNZ ..SOME             ; whole pages are full
        EI                      ; takes effect after HLT has begun, so no byte slips through
        HLT
        JMPR ..WAIT
..SOME: EI
        JMPR ..TAKE
..PAGE: INR H
        RES B.WRAP,H
        DI
        SHLD RXOUT
        MOV L,A
        LDA CONTRL
        CPI HOLD
        JRNZ ..ON
        LDA RXIN+1
        SUB H
        ANI 2                   ; less than two pages are left
        MVI A,SEND              ; so the host may go on, and so may we
        CZ SETCTL
..ON:   EI
        MOV A,L
        POP H
        RET

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
        LHLD TXOUT
        LDA TXIN
        CMP L
        JRZ ..NONE
        MOV A,M
        OUT UARTD
        INR L
        SHLD TXOUT
..NONE: POP H
        RET
        .END
