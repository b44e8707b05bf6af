; The driver of channel 0 of a Z180's ASCI, served by interrupt; the rings are in ring.asm.
;
; UARTC and UARTD, STAT0 and RDR0, are defined by the builder from the board profile.
;
; The ASCI is always served by the vector at I and IL, whatever the mode; so are the other devices
; on the chip, of which a stock monitor may have some interrupt: these are off while the program
; runs. Rate, MMU and IL stay as they were.

        .IDENT ASCI
        .INTERN UINIT,USERV,UDRAIN,HOLDUP,LETGO,TXGO,TXREST
        .EXTERN RINIT,NEWPGE,TXNEXT,IDLE,RXIN,TXIN,TXOUT,TXENDS,ZEROS,MISSED
        .INSERT z180.asm

; CNTLA0: bits 6-5 receiver and transmitter on, bit 4 RTS high, bit 3 (EFR) 0 clears the errors,
; bits 2-0 word (100 = 8 bits, no parity, 1 stop bit).
LISTEN  == 6CH          ; RTS low, errors stay
HOLD    == 7CH          ; RTS high, errors stay
EFR     == 08H
; STAT0, as it is and turned left by one: then carry = a character is there.
RIE     == 08H          ; received characters and errors interrupt
TIE     == 01H          ; the empty transmit register does
ERRORS  == 0E0H         ; turned: overrun, parity, framing
SENDS   == 06H          ; turned: the transmit register is empty, TIE
; ASEXT0: /DCD0 and /CTS0, which may hang loose, do not stop the channel.
FREE    == 60H
; TCR: bits 5-4 the timers interrupt.
TIMERS  == 0CFH         ; all others

        .LOC .DATA.
ISSET:  .BLKB 1                 ; CNTLA0 as last written: reading it does not give EFR
FOUND:  .BLKB 4         ; TCR, STAT1, ITC and ASEXT0 as they were

        .LOC .PROG.
; UINIT - sets the channel up and empties the rings.
;   Entry:    interrupts off
;   Exit:     the channel listens; interrupts still off, from other devices of the chip, too
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    2 bytes
;   Cycles:   409
UINIT:  CALL RINIT
        LXI H,FOUND
        INCHIP TCR
        MOV M,A
        ANI TIMERS
        OUTCHP TCR
        INX H
        INCHIP STAT1
        MOV M,A
        INX H
        INCHIP ITC
        MOV M,A
        INX H
        INCHIP ASEXT0
        MOV M,A
        XRA A
        OUTCHP STAT1
        OUTCHP ITC              ; no requests from outside the chip
        MVI A,FREE
        OUTCHP ASEXT0
        MVI A,LISTEN
        STA ISSET
        ANI 0FFH-EFR            ; an overrun may have stopped reception
        OUTCHP CNTLA0
        MVI A,RIE
        OUTCHP UARTC
        RET

; USERV - the interrupt service.
;   Entry:    interrupts off
;   Exit:     interrupts on, by RET: no device on the chip detects RETI
;   Errors:   a byte lost by the chip or for want of room, or one with an error, sets OVRUN
;   Clobbers: nothing
;   Stack:    10 bytes
;   Cycles:   189..570
USERV:  PUSH PSW
        PUSH H
..NEXT: INCHIP UARTC
        RLC                     ; bit 7: a character is there
        JRNC ..SENT             ; nothing received
        ANI ERRORS
        JRNZ ..BAD
        INCHIP UARTD
        LHLD RXIN
        MOV M,A                 ; there is always room for one
        ORA A
        CZ ZEROS                ; zeros may be a call (place.asm)
        INR L                   ; pages are the unit of all checks
        JRZ ..PAGE
..PUT:  SHLD RXIN
        JMPR ..NEXT             ; up to four may wait in the chip
..PAGE: CALL NEWPGE
        JRNC ..PUT
..GONE: CALL MISSED             ; reported to the program by OVRUN
        JMPR ..NEXT
..BAD:  INCHIP UARTD            ; before EFR: some chips receive nothing until both are done
..CLR:  LDA ISSET
        ANI 0FFH-EFR
        OUTCHP CNTLA0
        JMPR ..GONE
..SENT: MOV L,A
        ANI ERRORS              ; some have an overrun without a character
        JRNZ ..CLR
        MOV A,L
        ANI SENDS
        CPI SENDS
        JRNZ ..DONE
        LHLD TXOUT              ; TXNEXT in line, as in acia.asm
        LDA TXIN
        CMP L
        JRZ ..NONE
        MOV A,M
        OUTCHP TDR0
        INR L
        SHLD TXOUT
..DONE: POP H
        POP PSW
        EI                      ; takes effect after RET: no second level
        RET
..NONE: LXI H,TXENDS
        INR M
        MVI A,RIE               ; or it would interrupt again and again
        OUTCHP UARTC
        JMPR ..DONE

        .DEFINE CONTRL[]=[
        OUTCHP CNTLA0
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
TXGO:   MVI A,RIE+TIE           ; if there is nothing to send, USERV turns it off
        OUTCHP UARTC
        RET

        .DEFINE STATUS[]=[
        INCHIP UARTC
]
QUIET   == 2            ; the transmit register is empty
        .INSERT drain.asm

        .IFN HOSTED,[
        .INTERN UHAND

; UHAND - leaves the channel to another program, and the other devices as UINIT found them.
;   Entry:    Z set for one that polls it, clear for one that it is to interrupt; interrupts off
;   Exit:     the channel listens
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   156..159
UHAND:  MVI A,0
        JRZ ..SET
        MVI A,RIE               ; MVI leaves Z
..SET:  OUTCHP UARTC
        MVI A,LISTEN-EFR
        OUTCHP CNTLA0
        LXI H,FOUND
        MOV A,M
        OUTCHP TCR
        INX H
        MOV A,M
        OUTCHP STAT1
        INX H
        MOV A,M
        OUTCHP ITC
        INX H
        MOV A,M
        OUTCHP ASEXT0
        RET
        ]
        .END
