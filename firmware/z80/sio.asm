; The driver of channel A of the Zilog SIO, served by interrupt; the rings are in ring.asm.
;
; UARTC and UARTD, its two ports, are defined by the builder from the board profile.
;
; The chip interrupts for the transmitter when its buffer becomes empty, not while it is. So SENDS tells whether
; such an interrupt is still to come; if not, whoever has a byte starts the transmitter.

        .IDENT SIO
        .INTERN UINIT,USERV,PUTC,UDRAIN,HOLDUP,LETGO
        .EXTERN RINIT,NEWPGE,TXNEXT,RXIN,TXIN,TXOUT,ZEROS,MISSED

; Write register 0: the number of the register that is written or read next, or a command.
RESET   == 18H          ; channel reset
TXOFF   == 28H          ; takes back the transmitter's interrupt
ERROFF  == 30H          ; clears the latched overrun
; Write register 5: bit 7 DTR, bits 6-5 word (11 = 8 bits), bit 3 transmitter on, bit 1 RTS.
LISTEN  == 0EAH         ; RTS low
HOLD    == 0E8H         ; RTS high, behind the last character: late, which the ring has room for (docs/BOARDS.md)
; Read register 0, turned right by one: the carry tells that a character is there.
B.SENT  == 1            ; the transmit buffer is empty
; Read register 1.
ALLSNT  == 01H          ; the shift register is empty, too
LOST    == 20H          ; overrun

        .LOC .DATA.
REG5:   .BLKB 1         ; what write register 5 holds
SENDS:  .BLKB 1         ; not 0 while the transmitter's interrupt is to come

        .LOC .PROG.
; What is written to set the channel up: register 4 (divided by 64, 1 stop bit, no parity), 1 (interrupts for each
; character and for the transmitter), 3 (8 bits, receiver on; no auto enables, since /CTS and /DCD may hang loose), 5.
SETUP:  .BYTE RESET,4,0C4H,1,1AH,3,0C1H,5,LISTEN
SETLEN  == .-SETUP

; UINIT - resets the channel and empties the rings.
;   Entry:    interrupts off
;   Exit:     the channel listens; interrupts still off
;   Errors:   none
;   Clobbers: AF, BC, HL
;   Stack:    2 bytes
;   Cycles:   414
UINIT:  CALL RINIT
        STA SENDS
        MVI A,LISTEN
        STA REG5
        LXI H,SETUP
        LXI B,SETLEN*256+UARTC
        OUTIR
        RET

; USERV - the interrupt service.
;   Entry:    interrupts off
;   Exit:     interrupts on, by RETI
;   Errors:   a byte lost by the chip or for want of room sets OVRUN
;   Clobbers: nothing
;   Stack:    12 bytes
;   Cycles:   112..1300
USERV:  PUSH PSW
        PUSH H
..NEXT: IN UARTC
        RRC
        JRNC ..SENT             ; nothing received
        MVI A,1
        OUT UARTC
        IN UARTC                ; errors of the character that is next
        ANI LOST
        JRNZ ..LOST
        IN UARTD
        LHLD RXIN
        MOV M,A
        ORA A
        CZ ZEROS
        INR L
        JRZ ..PAGE
..PUT:  SHLD RXIN
        JMPR ..NEXT
..PAGE: CALL NEWPGE
        JRNC ..PUT
..GONE: CALL MISSED
        JMPR ..NEXT
..LOST: IN UARTD
        MVI A,ERROFF
        OUT UARTC
        JMPR ..GONE
..SENT: BIT B.SENT,A
        JRZ ..DONE
        LDA SENDS
        ORA A
        CNZ FEED
..DONE: POP H
        POP PSW
        EI
        RETI

; FEED - gives the transmitter the next byte; with none left it takes the interrupt back.
FEED:   CALL TXNEXT
        JRNC ..NONE
        OUT UARTD
        RET
..NONE: XRA A
        STA SENDS
        MVI A,TXOFF
        OUT UARTC
        RET

; HOLDUP - holds the host off.
HOLDUP: MVI A,HOLD

; SETRTS - sets write register 5 to A.
SETRTS: STA REG5
        MVI A,5
        OUT UARTC
        LDA REG5
        OUT UARTC
        RET

; LETGO - lets the host go on if it was held off.
LETGO:  LDA REG5
        CPI HOLD
        RNZ
        MVI A,LISTEN
        JMPR SETRTS

; PUTC - puts a byte into the transmit ring, waiting while that is full.
;   Entry:    A = the byte; interrupts on
;   Exit:     it will be sent
;   Errors:   none
;   Clobbers: AF
;   Stack:    6 bytes
;   Cycles:   148..301 when there is room
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
        EI                      ; as in GETC
        HLT
        JMPR ..WAIT
..ROOM: SHLD TXIN
        LXI H,SENDS
        MOV A,M
        MVI M,1
        ORA A
        CZ FEED
        EI
        POP B
        POP H
        RET

; UDRAIN - waits until everything has left the transmit ring and the chip.
;   Entry:    interrupts on
;   Exit:     the line is quiet
;   Errors:   none
;   Clobbers: AF
;   Stack:    2 bytes
;   Cycles:   up to 165000
UDRAIN: PUSH H
..WAIT: DI
        LHLD TXOUT
        LDA TXIN
        SUB L                   ; 0 when the ring is empty
        MOV L,A
        MVI A,1
        OUT UARTC
        IN UARTC
        EI
        CMA
        ANI ALLSNT
        ORA L
        JRNZ ..WAIT
        POP H
        RET
        .END
