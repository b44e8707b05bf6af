; The driver of the 68B50, served by interrupt; the rings are in ring.asm.
;
; UARTC and UARTD, its two ports, are defined by the builder from the board profile.
;
; The chip can't hold RTS high and interrupt for the transmitter at the same time. So while the host
; is stopped by RTS, sending pauses, and taking bytes out of the receive ring resumes both.

        .IDENT ACIA
        .INTERN UINIT,USERV,UDRAIN,HOLDUP,LETGO,TXGO,TXREST
        .EXTERN RINIT,NEWPGE,TXNEXT,IDLE,RXIN,TXIN,TXOUT,ZEROS,MISSED

; Control register: bits 1-0 clock (10 = divided by 64), bits 4-2 word (101 = 8 bits, no parity, 1
; stop bit), bits 6-5 transmitter (01 = interrupt, 10 = RTS high), bit 7 receive interrupt.
RESET   == 03H
LISTEN  == 96H          ; receive interrupt, RTS low
SEND    == 0B6H         ; the same with the transmit interrupt
HOLD    == 0D6H         ; receive interrupt, RTS high

        .LOC .DATA.
CONTRL: .BLKB 1         ; copy of the write-only control register

        .LOC .PROG.
; UINIT - resets the chip and empties the rings.
;   Entry:    interrupts off
;   Exit:     the chip listens; interrupts still off
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    2 bytes
;   Cycles:   242
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
;   Stack:    10 bytes
;   Cycles:   171..514
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
..LOST: CALL MISSED             ; reported to the program by OVRUN
        JMPR ..DONE
..SENT: RRC                     ; bit 1: the transmitter is empty
        JRNC ..DONE
        LHLD TXOUT              ; TXNEXT in line: half of what a call of it would cost
        LDA TXIN
        CMP L
        JRZ ..NONE
        MOV A,M
        OUT UARTD               ; which also takes the interrupt back
        INR L
        SHLD TXOUT
        POP H
        POP PSW
        EI
        RETI
..NONE: LDA CONTRL
        CPI SEND                ; is its interrupt on?
        JRNZ ..DONE
        MVI A,LISTEN            ; or it would interrupt again and again
        CALL SETCTL
        JMPR ..DONE

; HOLDUP - stops the host by RTS, and the transmitter: this chip has no state for one alone.
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

; LETGO - resumes host and transmitter if the host was stopped.
;   Entry:    interrupts off
;   Exit:     RTS is low
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   31..78
LETGO:  LDA CONTRL
        CPI HOLD                ; is the host stopped?
        RNZ
        MVI A,SEND              ; if there is nothing to send, USERV turns it off
        JMPR SETCTL

; TXGO - has the transmitter start if it rests.
;   Entry:    interrupts off
;   Exit:     what is in the transmit ring will be sent
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   31..78
TXGO:   LDA CONTRL
        CPI LISTEN              ; while the host is stopped, sending pauses as well
        RNZ
        MVI A,SEND              ; its interrupt comes at once
        JMPR SETCTL

; TXREST - waits until the next interrupt; while the host is stopped, sends a byte instead if the
; chip takes one.
;   Entry:    the transmit ring is not empty; interrupts off
;   Exit:     interrupts on
;   Errors:   none
;   Clobbers: AF
;   Stack:    6 bytes
;   Cycles:   as long as it takes
TXREST: LDA CONTRL
        CPI HOLD                ; host stopped: no interrupt would empty the ring
        JRZ ..POLL
        JMP IDLE
..POLL: CALL POLL
        EI                      ; a moment for the service
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
        CALL POLL               ; while the host is stopped nothing else sends
        LHLD TXOUT
        LDA TXIN
        EI
        CMP L                   ; low bytes suffice: the ring is one page
        JRNZ ..WAIT
        LXI H,400               ; the last two characters: 1280 T-states and more
..LAST: DCX H
        MOV A,H
        ORA L
        JRNZ ..LAST             ; then the shift register is empty, too
        POP H
        RET

; POLL - with the transmit interrupt off because of RTS, sends a byte if the chip can take one.
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

; UOTHER - tests whether the chip is a SIO instead. At rest the two bits for an empty transmitter
; differ: bit 1 of a 68B50, whose bit 2 is /DCD, and bit 2 of an SIO, whose bit 1 is an interrupt
; that waits.
;   Entry:    nothing
;   Exit:     Z set if it is
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   78050
UOTHER: LXI H,3000              ; time of two characters at 9600 baud, still in transit
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
