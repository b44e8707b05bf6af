; The rings between a serial chip's driver and the programs: 1024 bytes received, 256 to be sent.
;
; How full the receive ring is matters only where a pointer comes to a new page, so that nothing
; else is done for most bytes. The service never enters the page that is being emptied: 768 bytes
; fit at least.
;
; A driver provides HOLDUP, which stops the host by RTS, LETGO, which resumes it if stopped, TXGO,
; which starts the transmitter if it is idle, and TXREST, which waits for it.

        .IDENT RING
        .INTERN RXIN,RXOUT,TXIN,TXOUT,OVRUN,WINDOW,RINIT,NEWPGE,TXNEXT,UTEST,GETC,RXWAIT,RXPAGE
        .INTERN PUTC,IDLE,WAITS,FULLS,TXENDS
        .EXTERN HOLDUP,LETGO,PCREQ,TXGO,TXREST

; What the host may send before it has an answer: three of the longest frames.
WINDOW  == 750

        .LOC .DATA.
; The layout puts them where bit 10 of the address is clear in all of this ring.
RXRING: .BLKB 1024
B.WRAP  == 2            ; that bit in the high byte
TXRING: .BLKB 256
; Each interrupt changes one of the next three (invoke.asm).
RXIN:   .BLKW 1         ; where the next byte received goes
TXOUT:  .BLKW 1         ; where the next byte to send is taken
TXENDS: .BLKB 1         ; how often there was none
RXOUT:  .BLKW 1         ; where the next byte received is taken
TXIN:   .BLKW 1         ; where the next byte to send goes
OVRUN:  .BLKB 1         ; not 0 when a byte was lost since this was last cleared
WAITS:  .BLKB 4         ; how often the program has waited in IDLE
        .BLKB 1         ; what these carry, after 2^32 times
FULLS:  .BLKW 1         ; how often NEWPGE found no room; STINI clears it

        .LOC .PROG.
; RINIT - empties the rings.
;   Entry:    interrupts off
;   Exit:     nothing received, nothing to send, nothing lost, no report pending, nothing waited
;             for; A = 0
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   166
RINIT:  LXI H,RXRING
        SHLD RXIN
        SHLD RXOUT
        LXI H,TXRING
        SHLD TXIN
        SHLD TXOUT
        LXI H,0
        SHLD WAITS
        SHLD WAITS+2
        XRA A
        STA OVRUN
        STA PCREQ
        RET

; NEWPGE - for the service: takes the receive pointer to the next page.
;   Entry:    H = the page that is full; interrupts off
;   Exit:     C set: the next page is being emptied, and the byte is lost; C clear: H = it,
;             and the host is stopped when the page after it is being emptied
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    2 bytes
;   Cycles:   71..150
NEWPGE: INR H
        RES B.WRAP,H            ; from the last page to the first
        LDA RXOUT+1             ; the page that the program is emptying
        SUB H                   ; how far away is the program?
        JRZ ..FULL              ; it is in the next page
        ANI 3                   ; pages between them, as the ring goes round
        DCR A
        CZ HOLDUP               ; the program is in the page after it: stop the host
        ORA A                   ; carry clear: there is room
        RET
..FULL: LHLD FULLS
        INX H
        SHLD FULLS
        STC                     ; no room
        RET

; TXNEXT - takes the next byte to send.
;   Entry:    interrupts off
;   Exit:     C set: A = the byte; C clear: there is none
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   79 when there is one
TXNEXT: LHLD TXOUT
        LDA TXIN                ; only low bytes differ within a page
        CMP L
        RZ                      ; CMP has left carry clear: equal
        MOV A,M
        INR L                   ; the ring is one page: L goes round by itself
        SHLD TXOUT
        STC                     ; there is one
        RET

; UTEST - looks whether a byte is there.
;   Entry:    nothing
;   Exit:     Z clear when one is
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   41..71
UTEST:  LDA RXOUT
        LXI H,RXIN              ; low bytes first: they differ most often
        CMP M
        RNZ                     ; different places: there is one
        LDA RXOUT+1
        INX H
        CMP M
        RET

; GETC - waits for a byte, halted while there is none.
;   Entry:    interrupts on
;   Exit:     A = the byte
;   Errors:   none
;   Clobbers: F
;   Stack:    8 bytes
;   Cycles:   119..415 when a byte is there
GETC:   PUSH D
        LDED RXOUT
        LDA RXIN
        CMP E
        CZ RXWAIT               ; perhaps none is there
        LDAX D
        INR E
        CZ RXPAGE
        SDED RXOUT
        POP D
        RET

; RXWAIT - waits until there is a byte in the receive ring, halted.
;   Entry:    DE = where it will be; interrupts on
;   Exit:     it is there
;   Errors:   none
;   Clobbers: AF
;   Stack:    4 bytes
;   Cycles:   47..83 when it is there
RXWAIT: DI                      ; none may come between the test and HLT
        LDA RXIN
        CMP E
        JRNZ ..SOME
        LDA RXIN+1
        CMP D
        JRNZ ..SOME             ; whole pages are full
        CALL IDLE
        JMPR RXWAIT
..SOME: EI
        RET

; IDLE - waits for the next interrupt, and counts it: the count shows a host whether the board is
; always busy or waits for the line or the host.
;   Entry:    interrupts off
;   Exit:     interrupts on; WAITS is one more
;   Errors:   none
;   Clobbers: F
;   Stack:    2 bytes
;   Cycles:   as long as it takes
IDLE:   PUSH H
        LXI H,WAITS-1
..NEXT: INX H
        INR M                   ; 0: carries into the next byte
        JRZ ..NEXT
        POP H
        EI                      ; takes effect after HLT has begun, so no interrupt slips through
        HLT
        RET

; RXPAGE - advances to the next page of the receive ring.
;   Entry:    DE = the place after the last one taken, less 256; interrupts on
;   Exit:     DE = the page, RXOUT too; the host may send if there is room
;   Errors:   none
;   Clobbers: F
;   Stack:    4 bytes
;   Cycles:   105..221
RXPAGE: PUSH PSW
        INR D
        RES B.WRAP,D            ; from the last page to the first
        DI
        SDED RXOUT
        LDA RXIN+1
        SUB D
        ANI 2                   ; Z: 0 or 1 page apart, of four round the ring
        CZ LETGO                ; less than two pages are left
        EI
        POP PSW
        RET

; PUTC - puts a byte into the transmit ring, waiting while that is full.
;   Entry:    A = the byte; interrupts on
;   Exit:     it will be sent
;   Errors:   none
;   Clobbers: AF
;   Stack:    12 bytes
;   Cycles:   181 when there is room
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
        CALL TXREST
        JMPR ..WAIT
..ROOM: SHLD TXIN
        CALL TXGO
        EI
        POP B
        POP H
        RET
        .END
