; The driver of channel A of the Zilog SIO, served by interrupt; the rings are in ring.asm.
;
; UARTC and UARTD, its two ports, are defined by the builder from the board profile.
;
; The chip interrupts for the transmitter when its buffer becomes empty, not while it is. So SENDS
; records whether such an interrupt is still to come; if not, the sender of a byte starts the
; transmitter.

        .IDENT SIO
        .INTERN UINIT,USERV,UDRAIN,HOLDUP,LETGO,TXGO,TXREST
        .EXTERN RINIT,NEWPGE,TXNEXT,IDLE,RXIN,TXIN,TXOUT,TXENDS,ZEROS,MISSED

; Write register 0: the number of the register that is written or read next, or a command.
RESET   == 18H          ; channel reset
TXOFF   == 28H          ; takes back the transmitter's interrupt
ERROFF  == 30H          ; clears the latched overrun
; Write register 5: bit 7 DTR, bits 6-5 word (11 = 8 bits), bit 3 transmitter on, bit 1 RTS.
LISTEN  == 0EAH         ; RTS low
; RTS high, after the last character: late, which the ring has room for (docs/BOARDS.md).
HOLD    == 0E8H
; Read register 0, turned right by one: carry = a character is there.
B.SENT  == 1            ; the transmit buffer is empty
; Read register 1.
ALLSNT  == 01H          ; the shift register is empty, too
LOST    == 20H          ; overrun

        .LOC .DATA.
REG5:   .BLKB 1         ; copy of write register 5
SENDS:  .BLKB 1         ; not 0 while the transmitter's interrupt is to come

        .LOC .PROG.
; What is written to set the channel up: register 4 (divided by 64, 1 stop bit, no parity), 1
; (interrupts for each character and for the transmitter), 3 (8 bits, receiver on; no auto enables,
; since /CTS and /DCD may hang loose), 5.
REGS:   .BYTE RESET,4,0C4H,1,1AH,3,0C1H,5,LISTEN
REGLEN  == .-REGS

; UINIT - resets the channel and empties the rings.
;   Entry:    interrupts off
;   Exit:     the channel listens; interrupts still off
;   Errors:   none
;   Clobbers: AF, BC, HL
;   Stack:    2 bytes
;   Cycles:   430
UINIT:  CALL RINIT
        STA SENDS               ; A is 0: the transmitter rests
        MVI A,LISTEN
        STA REG5
        LXI H,REGS
        LXI B,REGLEN*256+UARTC
        OUTIR                   ; register numbers and values in turn
        RET

; USERV - the interrupt service.
;   Entry:    interrupts off
;   Exit:     interrupts on, by RETI
;   Errors:   a byte lost by the chip or for want of room sets OVRUN
;   Clobbers: nothing
;   Stack:    10 bytes
;   Cycles:   180..565
USERV:  PUSH PSW
        PUSH H
        IN UARTC
        RRC                     ; bit 0: a character is there
        JRNC ..SENT             ; nothing received
..TAKE: MVI A,1
        OUT UARTC               ; read register 1 is next
        IN UARTC                ; errors of the character that is next
        ANI LOST
        JRNZ ..LOST
        IN UARTD
        LHLD RXIN
        MOV M,A
        ORA A                   ; 0 goes to ZEROS
        CZ ZEROS                ; zeros may be a call (place.asm)
        INR L
        JRZ ..PAGE
..PUT:  SHLD RXIN
..NEXT: IN UARTC                ; up to three may wait in the chip
        RRC
        JRC ..TAKE
..DONE: POP H                   ; the transmitter interrupts again if it has to
        POP PSW
        EI                      ; takes effect after RETI: no second level
        RETI
..PAGE: CALL NEWPGE
        JRNC ..PUT
..GONE: CALL MISSED             ; reported to the program by OVRUN
        JMPR ..NEXT
..LOST: IN UARTD
        MVI A,ERROFF
        OUT UARTC
        JMPR ..GONE
..SENT: BIT B.SENT,A            ; the transmitter is empty?
        JRZ ..DONE
        LHLD TXOUT              ; TXNEXT in line: half of what a call of it would cost
        LDA TXIN
        CMP L
        JRZ ..NONE
        MOV A,M
        OUT UARTD
        INR L
        SHLD TXOUT
        POP H
        POP PSW
        EI
        RETI
..NONE: LXI H,TXENDS
        INR M
        XRA A
        STA SENDS
        MVI A,TXOFF             ; or it would interrupt again
        OUT UARTC
        JMPR ..DONE

; HOLDUP - stops the host by RTS.
;   Entry:    interrupts off
;   Exit:     RTS is high, after the last character
;   Errors:   none
;   Clobbers: A
;   Stack:    0 bytes
;   Cycles:   72
HOLDUP: MVI A,HOLD              ; falls into SETRTS

; SETRTS - sets write register 5 to A.
SETRTS: STA REG5
        MVI A,5                 ; the next write goes to register 5
        OUT UARTC
        LDA REG5                ; register 5 is selected
        OUT UARTC
        RET

; LETGO - resumes the host if it was stopped.
;   Entry:    interrupts off
;   Exit:     RTS is low
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   31..109
LETGO:  LDA REG5
        CPI HOLD                ; is the host stopped?
        RNZ
        MVI A,LISTEN
        JMPR SETRTS

; TXGO - has the transmitter start if it rests.
;   Entry:    interrupts off
;   Exit:     what is in the transmit ring will be sent
;   Errors:   none
;   Clobbers: AF
;   Stack:    4 bytes
;   Cycles:   28..185
TXGO:   LDA SENDS
        ORA A                   ; is an interrupt to come?
        RNZ
        PUSH H
        CALL TXNEXT
        POP H                   ; POP leaves carry
        RNC                     ; nothing is left to send
        OUT UARTD               ; none: the first byte starts the transmitter
        MVI A,1
        STA SENDS               ; now one is
        RET

        .DEFINE STATUS[]=[
        MVI A,1
        OUT UARTC               ; read register 1 is next
        IN UARTC
]
QUIET   == ALLSNT
        .INSERT drain.asm

        .IFN HOSTED,[
        .INTERN UHAND,UMINE
; Write register 1: bits 4-3 received characters interrupt, bit 1 the transmitter does.
RXINTS  == 18H

; UHAND - leaves the channel to another program. The transmitter's interrupt is off: a service that
; does not clear it would be called again and again.
;   Entry:    Z set for one that polls it, clear for one that it is to interrupt; interrupts off
;   Exit:     the channel listens
;   Errors:   none
;   Clobbers: AF, B
;   Stack:    2 bytes
;   Cycles:   112..119
UHAND:  MVI B,0
        JRZ ..SET
        MVI B,RXINTS            ; MVI leaves Z
..SET:  MVI A,TXOFF             ; what may be pending
        OUT UARTC
        MVI A,1                 ; write register 1: which events interrupt
        OUT UARTC
        MOV A,B
        OUT UARTC
        MVI A,LISTEN            ; RTS low
        JMP SETRTS

; UMINE - tests whether the chip is a SIO, which has sent what it had: its bit 2 is set then, and
; bit 7, a break, clear. Without a chip both are set.
;   Entry:    nothing
;   Exit:     Z set if it is
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   35
UMINE:  IN UARTC
        ANI 84H
        CPI 4
        RET
        ]
        .END
