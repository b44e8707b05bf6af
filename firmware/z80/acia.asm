; The driver of the 68B50, served by interrupt; the rings are in ring.asm.
;
; UARTC and UARTD, its two ports, are defined by the builder from the board profile.
;
; The chip can't hold RTS high and interrupt for the transmitter at the same time. So while the host
; is stopped by RTS, sending pauses, and taking bytes out of the receive ring resumes both.

        .IDENT ACIA
        .INTERN UINIT,USERV,UDRAIN,HOLDUP,LETGO,TXGO,TXREST
        .EXTERN RINIT,NEWPGE,TXNEXT,IDLE,RXIN,TXIN,TXOUT,TXENDS,ZEROS,MISSED

; Control register: bits 1-0 clock (10 = divided by 64), bits 4-2 word (101 = 8 bits, no parity, 1
; stop bit), bits 6-5 transmitter (01 = interrupt, 10 = RTS high), bit 7 receive interrupt.
RESET   == 03H
LISTEN  == 96H          ; receive interrupt, RTS low
SEND    == 0B6H         ; the same with the transmit interrupt
HOLD    == 0D6H         ; receive interrupt, RTS high

        .LOC .DATA.
ISSET:  .BLKB 1                 ; copy of the write-only control register

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
        STA ISSET               ; the register cannot be read back
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
..NONE: LXI H,TXENDS
        INR M
        LDA ISSET
        CPI SEND                ; is its interrupt on?
        JRNZ ..DONE
        MVI A,LISTEN            ; or it would interrupt again and again
        CALL SETCTL
        JMPR ..DONE

; This chip has no state that stops the host alone: sending pauses as well, and resumes with it. If
; there is nothing to send, USERV turns that off.
        .DEFINE CONTRL[]=[
        OUT UARTC               ; takes effect at once
]
RESUME  == SEND
        .INSERT flow.asm

; TXGO - has the transmitter start if it rests.
;   Entry:    interrupts off
;   Exit:     what is in the transmit ring will be sent
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   31..78
TXGO:   LDA ISSET
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
TXREST: LDA ISSET
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
POLL:   LDA ISSET
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
        .INTERN UHAND,UMINE
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

; UMINE - tests whether the chip is a 68B50, which has sent what it had: its bit 1 is set then, and
; bit 2, /DCD, clear.
;   Entry:    nothing
;   Exit:     Z set if it is
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   35
UMINE:  IN UARTC
        ANI 6
        CPI 2
        RET
        ]
        .END
