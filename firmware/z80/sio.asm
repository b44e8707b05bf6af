; The driver of channel A of the Zilog SIO: a receive ring and a transmit ring of 256 bytes, served by interrupt.
;
; UARTC and UARTD, its two ports, are defined by the builder from the board profile.
;
; The chip interrupts for the transmitter when its buffer becomes empty, not while it is. So SENDS tells whether
; such an interrupt is still to come; if not, whoever has a byte starts the transmitter.

        .IDENT SIO
        .INTERN UINIT,USERV,UTEST,GETC,PUTC,UDRAIN,OVRUN

; Write register 0: the number of the register that is written or read next, or a command.
RESET   == 18H          ; channel reset
TXOFF   == 28H          ; takes back the transmitter's interrupt
ERROFF  == 30H          ; clears the latched overrun
; Write register 5: bit 7 DTR, bits 6-5 word (11 = 8 bits), bit 3 transmitter on, bit 1 RTS.
LISTEN  == 0EAH         ; RTS low
HOLD    == 0E8H         ; RTS high, behind the last character
; Read register 0.
B.RCVD  == 0            ; a character is there
B.SENT  == 2            ; the transmit buffer is empty
; Read register 1.
ALLSNT  == 01H          ; the shift register is empty, too
LOST    == 20H          ; overrun
HIMARK  == 200          ; bytes in the receive ring at which RTS goes high
LOMARK  == 64           ; and below which it goes low again

        .LOC .DATA.
RXRING: .BLKB 256       ; the layout aligns them to pages
TXRING: .BLKB 256
RXIN:   .BLKW 1         ; where the next byte received goes
RXOUT:  .BLKW 1         ; where the next byte is taken
TXIN:   .BLKW 1
TXOUT:  .BLKW 1
REG5:   .BLKB 1         ; what write register 5 holds
SENDS:  .BLKB 1         ; not 0 while the transmitter's interrupt is to come
OVRUN:  .BLKB 1         ; not 0 when a byte was lost since this was last cleared

        .LOC .PROG.
; What is written to set the channel up: register 4 (divided by 64, 1 stop bit, no parity), 1 (interrupts for each
; character and for the transmitter), 3 (8 bits, receiver on), 5.
SETUP:  .BYTE RESET,4,0C4H,1,1AH,3,0C1H,5,LISTEN
SETLEN  == .-SETUP

; UINIT - resets the channel and empties the rings.
;   Entry:    interrupts off
;   Exit:     the channel listens; interrupts still off
;   Errors:   none
;   Clobbers: AF, BC, HL
;   Stack:    0 bytes
;   Cycles:   374
UINIT:  LXI H,RXRING
        SHLD RXIN
        SHLD RXOUT
        LXI H,TXRING
        SHLD TXIN
        SHLD TXOUT
        XRA A
        STA OVRUN
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
;   Stack:    6 bytes
;   Cycles:   95..800
USERV:  PUSH PSW
        PUSH H
..NEXT: IN UARTC
        BIT B.RCVD,A
        JRZ ..SENT
        MVI A,1
        OUT UARTC
        IN UARTC                ; errors of the character that is next
        ANI LOST
        JRNZ ..LOST
        IN UARTD
        LHLD RXIN
        MOV M,A
        INR L
        LDA RXOUT
        CMP L
        JRZ ..FULL
        SHLD RXIN
        SUB L
        NEG                     ; bytes in the ring
        CPI HIMARK
        MVI A,HOLD
        CNC SETRTS
        JMPR ..NEXT
..LOST: IN UARTD
        MVI A,ERROFF
        OUT UARTC
..FULL: MVI A,1
        STA OVRUN
        JMPR ..NEXT
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
FEED:   LHLD TXOUT
        LDA TXIN
        CMP L
        JRZ ..NONE
        MOV A,M
        OUT UARTD
        INR L
        SHLD TXOUT
        RET
..NONE: XRA A
        STA SENDS
        MVI A,TXOFF
        OUT UARTC
        RET

; SETRTS - sets write register 5 to A.
SETRTS: STA REG5
        MVI A,5
        OUT UARTC
        LDA REG5
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
        LDA REG5
        CPI HOLD
        MVI A,LISTEN
        CZ SETRTS
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
;   Cycles:   148..265 when there is room
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
