; The driver of the 68B50, served by interrupt; the rings are in ring.asm.
;
; UARTC and UARTD, its two ports, are defined by the builder from the board profile.
;
; The chip can't hold RTS high and interrupt for the transmitter at the same time. So while the host
; is held off, sending rests, and whoever takes bytes out of the receive ring lets both go on.

        .IDENT ACIA
        .INTERN UINIT,USERV,PUTC,UDRAIN,HOLDUP,LETGO
        .EXTERN RINIT,NEWPGE,TXNEXT,RXIN,TXIN,TXOUT,ZEROS,MISSED

; Control register: bits 1-0 clock (10 = divided by 64), bits 4-2 word (101 = 8 bits, no parity, 1
; stop bit), bits 6-5 transmitter (01 = interrupt, 10 = RTS high), bit 7 receive interrupt.
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
UINIT:  CALL RINIT              ; before the chip can interrupt
        MVI A,RESET             ; a master reset: the 68B50 has no reset pin
        OUT UARTC
        MVI A,LISTEN
        STA CONTRL              ; the register cannot be read back
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
        RRC                     ; bit 0: a byte was received
        JRNC ..SENT             ; nothing received
        ANI 10H                 ; overrun, one place further down
        IN UARTD                ; takes the byte, which ends the interrupt; leaves Z
        JRNZ ..LOST             ; the byte was read before: one after it is lost
        LHLD RXIN
        MOV M,A                 ; there is always room for one
        ORA A
        CZ ZEROS                ; zeros may be a call (place.asm)
        INR L                   ; pages are the unit of all checks
        JRZ ..PAGE
..PUT:  SHLD RXIN
..DONE: POP H
        POP PSW
        EI                      ; takes effect after RETI: no second level
        RETI
..PAGE: CALL NEWPGE
        JRNC ..PUT
..LOST: CALL MISSED             ; the program hears of it by OVRUN
        JMPR ..DONE
..SENT: RRC                     ; bit 1: the transmitter is empty
        JRNC ..DONE
        LDA CONTRL
        CPI SEND                ; is its interrupt on?
        CZ FEED
        JMPR ..DONE

; FEED - gives the transmitter the next byte; with none left its interrupt goes off.
FEED:   CALL TXNEXT
        JRNC ..NONE             ; nothing is left to send
        OUT UARTD               ; which also takes the interrupt back
        RET
..NONE: MVI A,LISTEN            ; or it would interrupt again and again
        JMPR SETCTL

; HOLDUP - holds the host off, and the transmitter: this chip cannot do one without the other.
;   Entry:    interrupts off
;   Exit:     RTS is high
;   Errors:   none
;   Clobbers: A
;   Stack:    0 bytes
;   Cycles:   41
HOLDUP: MVI A,HOLD              ; falls into SETCTL

; SETCTL - sets the control register to A.
SETCTL: STA CONTRL
        OUT UARTC               ; takes effect at once
        RET

; LETGO - lets the host go on if it was held off, and the transmitter.
;   Entry:    interrupts off
;   Exit:     RTS is low
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   31..79
LETGO:  LDA CONTRL
        CPI HOLD                ; is the host held off?
        RNZ
        MVI A,SEND              ; if there is nothing to send, FEED turns it off
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
..WAIT: DI                      ; the service must not see TXIN half set
        LHLD TXIN
        MOV M,B                 ; there is always room for one
        INR L
        LDA TXOUT
        CMP L                   ; but not for the next, if it comes up to the reader
        JRNZ ..ROOM
        CALL POLL               ; held off, the ring would never empty by itself
        EI                      ; a moment for the service
        JMPR ..WAIT
..ROOM: SHLD TXIN
        LDA CONTRL              ; does the transmitter rest?
        CPI LISTEN
        MVI A,SEND
        CZ SETCTL               ; its interrupt comes at once
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
        CALL POLL               ; while the host is held off nobody else sends
        LHLD TXOUT
        LDA TXIN
        EI
        CMP L                   ; low bytes tell: the ring is one page
        JRNZ ..WAIT
        LXI H,400               ; the last two characters: 1280 T-states and more
..LAST: DCX H
        MOV A,H
        ORA L
        JRNZ ..LAST             ; then the shift register is empty, too
        POP H
        RET

; POLL - with the transmit interrupt held off by RTS, sends a byte if the chip can take one.
POLL:   LDA CONTRL
        CPI HOLD                ; the interrupt sends in all other states
        RNZ
        IN UARTC
        BIT 1,A                 ; the transmitter is empty
        RZ
        PUSH H
        CALL TXNEXT
        POP H                   ; POP leaves carry
        RNC                     ; nothing is left to send
        OUT UARTD
        RET

        .IFN HOSTED,[
        .INTERN UHAND,UOTHER
POLLED  == 16H          ; no interrupt, RTS low

; UHAND - leaves the chip to another program.
;   Entry:    Z set for one that polls it, clear for one that it is to interrupt; interrupts off
;   Exit:     it listens
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   40..47
UHAND:  MVI A,POLLED            ; MVI leaves Z
        JRZ ..SET
        MVI A,LISTEN
..SET:  OUT UARTC
        RET

; UOTHER - tells whether the chip is a SIO instead. At rest the two bits for an empty transmitter
; differ: bit 1 of a 68B50, whose bit 2 is /DCD, and bit 2 of an SIO, whose bit 1 is an interrupt
; that waits.
;   Entry:    nothing
;   Exit:     Z set if it is
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   78050
UOTHER: LXI H,3000              ; two characters at 9600 baud may be under way
..WAIT: DCX H
        MOV A,H
        ORA L
        JRNZ ..WAIT
        IN UARTC
        ANI 6
        CPI 4
        RET
        ]
        .END
