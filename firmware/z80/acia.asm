; The driver of the 68B50: a receive ring and a transmit ring of 256 bytes, served by interrupt.
;
; UARTC and UARTD, its two ports, are defined by the builder from the board profile.
;
; The chip can't hold RTS high and interrupt for the transmitter at the same time. So while the host is
; held off, sending rests, and whoever takes bytes out of the receive ring lets both go on.

        .IDENT ACIA
        .INTERN UINIT,USERV,UTEST,GETC,PUTC,UDRAIN,OVRUN

; Control register: bits 1-0 clock (10 = divided by 64), bits 4-2 word (101 = 8 bits, no parity, 1 stop
; bit), bits 6-5 transmitter (01 = interrupt, 10 = RTS high), bit 7 receive interrupt.
RESET   == 03H
LISTEN  == 96H          ; receive interrupt, RTS low
SEND    == 0B6H         ; the same with the transmit interrupt
HOLD    == 0D6H         ; receive interrupt, RTS high
HIMARK  == 200          ; bytes in the receive ring at which RTS goes high
LOMARK  == 64           ; and below which it goes low again

        .LOC .DATA.
RXRING: .BLKB 256       ; the layout aligns them to pages
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
;   Cycles:   140..400
USERV:  PUSH PSW
        PUSH H
        PUSH B
        IN UARTC
        MOV B,A
        RRC
        JRNC ..SENT             ; nothing received
        IN UARTD
        BIT 5,B
        JRNZ ..LOST             ; the byte was read before: one behind it is lost
        LHLD RXIN
        MOV M,A
        INR L
        LDA RXOUT
        CMP L
        JRZ ..LOST              ; the ring is full
        SHLD RXIN
        SUB L
        NEG                     ; bytes in the ring
        CPI HIMARK
        JRC ..SENT
        LDA CONTRL
        CPI HOLD
        JRZ ..DONE
        MVI A,HOLD
        CALL SETCTL
        JMPR ..DONE
..LOST: MVI A,1
        STA OVRUN
..SENT: LDA CONTRL
        CPI SEND
        JRNZ ..DONE
        BIT 1,B
        CNZ FEED
..DONE: POP B
        POP H
        POP PSW
        EI
        RETI

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
;   Cycles:   40
UTEST:  LDA RXOUT
        LXI H,RXIN
        CMP M
        RET

; GETC - waits for a byte, halted while there is none.
;   Entry:    interrupts on
;   Exit:     A = the byte
;   Errors:   none
;   Clobbers: F
;   Stack:    4 bytes
;   Cycles:   147..240 when a byte is there
GETC:   PUSH H
..WAIT: DI
        LHLD RXOUT
        LDA RXIN
        CMP L
        JRNZ ..TAKE
        EI                      ; takes effect after HLT has begun, so no byte slips through
        HLT
        JMPR ..WAIT
..TAKE: SUB L
        CPI LOMARK
        JRNC ..READ
        LDA CONTRL
        CPI HOLD
        JRNZ ..READ
        MVI A,SEND              ; the host may go on, and so may we
        CALL SETCTL
..READ: MOV A,M
        INR L
        SHLD RXOUT
        EI
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
