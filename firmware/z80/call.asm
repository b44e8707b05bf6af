; The request CALL: a batch of calls, with memory to write before and to return after each
; (docs/PROTOCOL.md). A call may not be repeated, so the replies to the last two batches are stored
; and sent again when their requests are.
;
; On a Z180, timer 1 of the chip ends a call that has not returned after the ticks that the host has
; set, unless it has interrupts off or changes register I or the timer.

        .IDENT CALL
        .INTERN BATINI,DOCALL,GIVEN
        .EXTERN INVOKE,MARK,JUDGE,RIN,ROUT,ENTRY,CRC32,CHECK,FLIP,LOADLO,LOADHI
        .EXTERN SENDFM,PUTERR,NEWRPL,PUTFRM,REQ,R.LEN,R.DATA,P.LEN
        .INSERT wire.asm
        .IFN Z180,[
        .INTERN WATCH
        .EXTERN CLINI,USERV,PCREQ
        .INSERT z180.asm

TIMER1  == 22H          ; TCR: timer 1 counts and interrupts
        ]

R.SEQ   == REQ+1
SAVED   == MAXPAY+6             ; LEN, SEQ, TYPE, the payload and the three bytes of SENDFM

        .LOC .DATA.
EVEN:   .BLKB SAVED             ; the reply to the last batch with an even number
ODD:    .BLKB SAVED
NUMBER: .BLKB 1                 ; of the next batch; the next two bytes follow it
LIMIT:  .BLKB 1                 ; ticks for a call: 65,536 times 20 T-states, the first perhaps less
LEFT:   .BLKB 1                 ; those that it still has; 0 between calls
KNOWN:  .BLKB 1                 ; not 0 once a host has set it
SAVING: .BLKW 1                 ; the reply that is being made
IN:     .BLKW 1                 ; the next byte of the request
INEND:  .BLKW 1                 ; after its last one
OUT:    .BLKW 1                 ; where the next byte of the reply goes
OUTEND: .BLKW 1                 ; as far as results may come
RESULT: .BLKW 1                 ; where this call's begins
BATSP:  .BLKW 1                 ; the stack pointer of the batch
WANT:   .BLKW 1                 ; what this call is to return
CRC:    .BLKB 4

        .LOC .PROG.
; BATINI - forgets all batches: none is made until a host has set the number of the next.
;   Entry:    nothing
;   Exit:     A = 0
;   Errors:   none
;   Clobbers: F
;   Stack:    0 bytes
;   Cycles:   53
BATINI: XRA A
        STA KNOWN
        STA EVEN                ; a reply without a length can't be requested again
        STA ODD
        RET

; DOCALL - answers CALL.
;   Entry:    R.LEN and R.DATA = the request
;   Exit:     the reply is on its way
;   Errors:   a number that is neither the next nor one of the last two is answered by the error
;             reply; what is wrong with a call ends the reply
;   Clobbers: everything
;   Stack:    32 bytes
;   Cycles:   5000 and what the calls take
DOCALL: LDA R.DATA
        MOV B,A
        LXI H,EVEN
        RRC
        JRNC ..SLOT
        LXI H,ODD
..SLOT: LDA R.LEN
        CPI 2
        JRZ ..SYNC              ; no call
        LDA KNOWN
        ORA A
        JRZ ..BAD               ; the caller has just started
        LDA NUMBER
        CMP B
        JRZ ..NEW
        MOV A,M                 ; its length is not 0
        ORA A
        JRZ ..BAD
        INX H
        INX H
        INX H
        MOV A,M                 ; the number of that batch
        CMP B
        JRNZ ..BAD
        DCX H
        DCX H
        JMPR ..SEND
..SYNC: CALL BATINI
        INR A
        STA KNOWN
        LHLD R.DATA
        SHLD NUMBER             ; and LIMIT
        CALL NEWRPL
        MOV M,B
        MVI A,1
        STA P.LEN
        JMP PUTFRM
..BAD:  LXI D,0                 ; the number is at offset 0
        MVI C,E.ARG
        JMP PUTERR
..NEW:  INR A
        STA NUMBER
        SHLD SAVING
        MVI M,0                 ; no reply, should the board be reset before there is one
        INX H
        INX H
        MVI M,T.CALL+T.REPL
        INX H
        MOV M,B
        INX H
        SHLD OUT
        LXI D,MAXPAY-4          ; the number before, an end of three bytes after them
        DAD D
        SHLD OUTEND
        CALL BATCH
        LHLD SAVING             ; its length is that from after LEN, SEQ and TYPE
        XCHG
        LHLD OUT
        ORA A
        DSBC D
        MOV A,L
        SUI 3
        STAX D
        XCHG
        INX H
..SEND: LDA R.SEQ
        MOV M,A
        DCX H
        JMP SENDFM

; BATCH - makes all calls of the request, or those up to the first that is wrong.
;   Entry:    R.LEN and R.DATA = the request; OUT and OUTEND = the reply
;   Exit:     OUT = after the results
;   Errors:   the last result ends the reply with a code
;   Clobbers: everything
;   Stack:    30 bytes
;   Cycles:   those of the calls
BATCH:  SSPD BATSP
        LXI H,R.DATA
        LDA R.LEN
        MOV E,A
        MVI D,0
        DAD D
        SHLD INEND
        LXI D,R.DATA+1          ; DE runs over the request
..CALL: LHLD OUT
        SHLD RESULT
        LHLD INEND
        ORA A
        DSBC D
        RZ
        CALL PARSE
        SDED IN
        CALL MARK
        .IFN Z180,[
        CALL TIMEON
        ]
        CALL INVOKE
        .IFN Z180,[
        LHLD LIMIT
        MOV A,L
        CMP H                   ; LEFT: Z if there was no tick
        PUSH PSW
        CALL TIMEOF
        ]
        CALL JUDGE
        .IFN Z180,[
        POP PSW
        JRZ ..SAME
        SET 4,C                 ; S.INT: a tick uses the stack, too
..SAME:
        ]
        CALL ANSWER
        JMPR ..CALL

        .IFN Z180,[
; WATCH - the interrupt service: that of the timer, or USERV.
;   Entry:    interrupts off
;   Exit:     interrupts on, by RET or in USERV; after the last tick, the batch ends
;   Errors:   none
;   Clobbers: nothing
;   Stack:    4 bytes
;   Cycles:   50 and USERV's, or 91..140
WATCH:  PUSH PSW
        INCHIP TCR
        RLC                     ; bit 7: timer 1 has ended
        JRC ..TICK
        POP PSW
        JMP USERV
..TICK: INCHIP TMDR1            ; after TCR: clears that bit
        LDA LEFT
        ORA A
        JRZ ..DONE              ; the call has returned meanwhile
        DCR A
        JRNZ ..SET
        LDA PCREQ               ; a report is being sent: one tick more
        ORA A
        JRZ LATE
        MVI A,1
..SET:  STA LEFT
..DONE: POP PSW
        EI                      ; takes effect after RET
        RET

; LATE - ends the batch with the address at which the routine was.
LATE:   POP PSW
        POP H                   ; that address
        LSPD BATSP
        PUSH H
        CALL TIMEOF
        EI
        CALL CLINI              ; what it has left on its stack
        POP H
        MVI C,E.TIME
        JMP ENDIT

; TIMEON - starts the timer for a call.
;   Entry:    LIMIT = its ticks
;   Exit:     the timer counts
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   97
TIMEON: MVI A,0FFH
        OUTCHP RLDR1
        OUTCHP RLDR1+1
        LDA LIMIT
        STA LEFT
        INCHIP TCR
        ORI TIMER1
        OUTCHP TCR
        RET

; TIMEOF - stops it.
;   Entry:    nothing
;   Exit:     the timer stands still; LEFT = 0
;   Errors:   none
;   Clobbers: AF
;   Stack:    0 bytes
;   Cycles:   57
TIMEOF: INCHIP TCR
        ANI 0FFH-TIMER1
        OUTCHP TCR
        XRA A
        STA LEFT
        RET
        ]

; PARSE - takes the next call from the request: the routine, masks, registers, and memory to write,
; which it writes.
;   Entry:    DE = the call in the request
;   Exit:     ENTRY, WANT and RIN = the call; DE = the list of memory to return, if there is one
;   Errors:   what is wrong ends the batch
;   Clobbers: AF, BC, HL
;   Stack:    10 bytes
;   Cycles:   1000 and what the memory takes
PARSE:  XCHG
        MOV E,M                 ; the routine
        INX H
        MOV D,M
        INX H
        SDED ENTRY
        MOV C,M                 ; which registers are given
        INX H
        MOV B,M
        INX H
        MOV E,M                 ; and which are wanted
        INX H
        MOV D,M
        INX H
        SDED WANT
        MOV A,B
        ORA D
        ANI 7CH                 ; bits that mean nothing
        JRNZ WRONG
        XCHG
        BIT B.MEM,B
        PUSH PSW
        RES B.MEM,B
        CALL GIVEN
        POP PSW
        CNZ WRITES
        LDA WANT+1
        RLC                     ; carry: memory is to be returned
        MOV L,E
        MOV H,D
        JRNC ..LAST
        LDAX D                  ; how many stretches of it, four bytes each
        INX H
        LXI B,4
..NEXT: ORA A
        JRZ ..LAST
        DAD B
        JRC WRONG               ; past FFFFH
        DCR A
        JMPR ..NEXT
..LAST: LBCD INEND              ; HL is after the call: is all of it there?
        ORA A
        DSBC B
        RZ
        RC
WRONG:  MVI C,E.ARG             ; falls into NODET

; NODET - as ENDIT, without a detail.
NODET:  LXI H,0                 ; falls into ENDIT

; ENDIT - ends the batch in place of this call's result: C = the error, HL = its detail.
ENDIT:  LSPD BATSP
        XCHG
        LHLD RESULT
        MOV A,C
        ORI S.END
        MOV M,A
        INX H
        MOV M,E
        INX H
        MOV M,D
        INX H
        SHLD OUT
        RET                     ; for BATCH

; GIVEN - takes registers from a request; the others are 0.
;   Entry:    BC = mask of registers, DE = their values
;   Exit:     RIN is filled, DE = after the values
;   Errors:   none
;   Clobbers: AF, BC, HL
;   Stack:    4 bytes
;   Cycles:   450..1510
GIVEN:  PUSH B
        PUSH D
        LXI H,RIN
        LXI D,RIN+1
        LXI B,2*PAIRS-1
        MVI M,0
        LDIR
        POP D
        POP B
        LXI H,RIN
..REG:  MOV A,B
        ORA C
        RZ                      ; no more are given
        SRLR B
        RARR C                  ; carry: this one is
        JRNC ..NEXT
        LDAX D
        MOV M,A
        INX D
        INX H
        LDAX D
        MOV M,A
        INX D
        INX H
        JMPR ..REG
..NEXT: INX H
        INX H
        JMPR ..REG

; WRITES - writes stretches of memory.
;   Entry:    DE = their number, then address, length and bytes of each
;   Exit:     DE = after them
;   Errors:   what is wrong ends the batch
;   Clobbers: AF, BC, HL
;   Stack:    8 bytes
;   Cycles:   250 a stretch and 59 a byte
WRITES: LDAX D
        INX D
..NEXT: ORA A
        RZ
        PUSH PSW
        XCHG
        MOV E,M
        INX H
        MOV D,M                 ; address
        INX H
        MOV C,M                 ; length
        INX H
        XCHG
        PUSH H
        MVI B,0
        MOV A,C
        ORA A
        JRZ WRONG
        LHLD INEND
        DSBC D                  ; bytes that are there; ORA has cleared carry
        JRC WRONG
        DSBC B
        JRC WRONG
        POP H
        CALL MAY                ; may HL be written, BC bytes?
        MVI A,E.ADDR
        JRC ..END
        MOV B,C
..BYTE: LDAX D
        MOV M,A
        CMP M                   ; is it there?
        MVI A,E.READ
        JRNZ ..END
        INX D
        INX H
        DJNZ ..BYTE
        POP PSW
        DCR A
        JMPR ..NEXT
..END:  MOV C,A
        JMPR ENDIT

; MAY - tells whether memory lies where programs may be.
;   Entry:    HL = first byte; BC = how many
;   Exit:     carry clear if it does; HL, DE and BC as they were
;   Errors:   none
;   Clobbers: F
;   Stack:    4 bytes
;   Cycles:   up to 156
MAY:    PUSH H
        PUSH D
        LXI D,LOADLO
        ORA A
        DSBC D
        JRC ..NO
        DAD D
        DAD B
        DCX H                   ; the last one; a carry of DAD is below FFFFH then
        XCHG
        LXI H,LOADHI
        JRC ..NO
        ORA A
        DSBC D
..NO:   POP D
        POP H
        RET

; ANSWER - puts the result of a call into the reply.
;   Entry:    C = status; B = depth of its stack; IN = list of memory to return
;   Exit:     DE = after that list
;   Errors:   no room or no bytes: the batch ends
;   Clobbers: AF, BC, HL
;   Stack:    10 bytes
;   Cycles:   500 and what registers and memory take
ANSWER: PUSH B
        LXI H,0
        DAD SP                  ; both bytes as they are on the stack
        LXI B,2
        CALL APPEND
        POP B
        LBCD WANT
        BIT B.MEM,B
        PUSH PSW
        RES B.MEM,B
        LXI H,ROUT
..REG:  MOV A,B
        ORA C
        JRZ ..MEM
        SRLR B
        RARR C
        JRNC ..NEXT
        PUSH B
        LXI B,2
        CALL APPEND
        POP B
        JMPR ..REG
..NEXT: INX H
        INX H
        JMPR ..REG
..MEM:  POP PSW
        LDED IN
        RZ                      ; no memory is wanted
        LDAX D
        INX D
..ITEM: ORA A
        RZ
        PUSH PSW
        XCHG
        MOV E,M
        INX H
        MOV D,M                 ; address
        INX H
        MOV C,M
        INX H
        MOV B,M                 ; length
        INX H
        PUSH H
        XCHG
        MOV A,B
        ORA C
        JZ WRONG                ; no bytes are wanted
        BIT B.MEM,B
        JRZ ..DATA
        RES B.MEM,B
        CALL CRCMEM
..DATA: CALL APPEND
        POP D
        POP PSW
        DCR A
        JMPR ..ITEM

; CRCMEM - computes the CRC-32 of a stretch of memory.
;   Entry:    HL = first byte; BC = how many, not 0
;   Exit:     HL = the four bytes of the CRC; BC = 4
;   Errors:   none
;   Clobbers: AF, DE, and BC, DE, HL of the other set
;   Stack:    4 bytes
;   Cycles:   500 and 120 a byte
CRCMEM: PUSH H
        LXI H,0FFFFH
        SHLD CHECK
        SHLD CHECK+2
        POP H
        MOV A,C
        ORA A
        JRZ ..PAGE              ; whole stretches of 256
        PUSH B
        MOV B,C
        CALL CRC32
        POP B
..PAGE: MOV A,B
        ORA A
        JRZ ..DONE
        PUSH B
        MVI B,0                 ; 256
        CALL CRC32
        POP B
        DCR B
        JMPR ..PAGE
..DONE: LXI H,CHECK
        LXI D,CRC
        CALL FLIP
        LXI H,CRC
        LXI B,4
        RET

; APPEND - puts bytes into the reply.
;   Entry:    HL = first byte; BC = how many, not 0
;   Exit:     HL = after the last; OUT = after them in the reply; BC = 0
;   Errors:   no room: the batch ends
;   Clobbers: F, DE
;   Stack:    2 bytes
;   Cycles:   123 and 21 a byte
APPEND: PUSH H
        LDED OUT
        LHLD OUTEND
        ORA A
        DSBC D
        DSBC B                  ; carry is clear: OUT is never beyond OUTEND
        POP H
        JRC FULL
        LDIR
        SDED OUT
        RET

FULL:   MVI C,E.LEN             ; no frame has room for the results
        JMP NODET
        .END
