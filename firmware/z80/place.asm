; Reports the program counter to a host that has waited too long, even if the program no longer
; reads the receive ring (docs/PROTOCOL.md, "Program counter report").
;
; The interrupt handler recognizes eight zeros in a row, which no request has, and patches its
; return address: the program enters PCRPT before it resumes.

        .IDENT PLACE
        .INTERN PCRPT,ZEROS,MISSED,PCREQ,PCSENT,LOSSES
        .EXTERN RXIN,OVRUN,SENDFM,UDRAIN
        .INSERT wire.asm

        .LOC .DATA.
ZLAST:  .BLKB 1         ; low half of the last zero's ring address
ZCOUNT: .BLKB 1         ; zeros in a row so far
PCSAVE: .BLKW 1         ; the interrupted program counter
PCREQ:  .BLKB 1         ; not 0 while a report is pending
PCSENT: .BLKB 1         ; set after a report: a frame being sent was interrupted
PLCFRM: .BLKB BODY+3    ; the report's frame
LOSSES: .BLKW 1         ; how often MISSED was called; STINI clears it

        .LOC .PROG.
; MISSED - for the interrupt handler: a byte is lost.
;   Entry:    RXIN points to the byte for which there is no room; interrupts off
;   Exit:     OVRUN is not 0, LOSSES one more
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   96..117
MISSED: MVI A,1
        STA OVRUN
        LHLD LOSSES
        INX H
        SHLD LOSSES
        LHLD RXIN
        MOV A,M
        ORA A
        RZ
        XRA A
        STA ZCOUNT              ; any other byte breaks the run of zeros
        RET

; ZEROS - for the interrupt handler: a zero was received. With seven before it the program counter
; is to be reported.
;   Entry:    HL = its ring address; interrupts off; called by the handler, which has pushed AF and
;             HL
;   Exit:     the handler returns to the program, or to PCRPT
;   Errors:   none
;   Clobbers: AF
;   Stack:    4 bytes
;   Cycles:   104..283
ZEROS:  LDA ZLAST               ; address of the zero before
        SUB L                   ; the low half is enough: the ring is longer than a run
        INR A                   ; 0 right after it, 1 in the same place
; It is after the last one, or in its place where there is no more room.
        CPI 2                   ; carry: one of the two
        MOV A,L
        STA ZLAST
        LDA ZCOUNT              ; LDA leaves carry
        JRC ..MORE
        XRA A                   ; not in a row: this is the first again
..MORE: INR A
        STA ZCOUNT
        CPI ZRUN                ; the eighth, and not each one after it
        RNZ                     ; falls into ASK

; ASK - patches the handler's return address to PCRPT, unless a report is pending.
ASK:    LDA PCREQ
        ORA A
        RNZ
        INR A                   ; 0 becomes 1: pending
        STA PCREQ
        PUSH H
        PUSH D                  ; DE and HL are the program's
        LXI H,10                ; on the stack: DE, HL, return address, the handler's HL and AF
        DAD SP
        LXI D,PCRPT             ; the service is to return there
        MOV A,M
        MOV M,E                 ; PCRPT in, the program's address out
        MOV E,A
        INX H
        MOV A,M
        MOV M,D
        MOV D,A
        SDED PCSAVE             ; the interrupted program counter stopped
        POP D
        POP H
        RET

; PCRPT - reports the program counter and returns there.
;   Entry:    a return from the service; PCSAVE = the place; interrupts on
;   Exit:     the report is sent
;   Errors:   none
;   Clobbers: nothing
;   Stack:    28 bytes
;   Cycles:   up to 170000
PCRPT:  PUSH H                  ; room for the address on the stack
        LHLD PCSAVE
        XTHL                    ; PCSAVE is where RET goes; HL is the program's again
        PUSH PSW
        PUSH B
        PUSH D
        PUSH H                  ; all that SENDFM uses
        LDED PCSAVE             ; the place, to be sent
        LXI H,PLCFRM
        PUSH H                  ; the frame, for SENDFM
        MVI M,2                 ; LEN
        INX H
        MVI M,0                 ; SEQ: it is the answer to no request
        INX H
        MVI M,T.PLCE            ; a type that no request has
        INX H
        MOV M,E
        INX H
        MOV M,D
        POP H
        CALL SENDFM             ; a separate frame: P.DATA may be half filled
        CALL UDRAIN             ; without the transmitter's interrupt, too
        POP H
        POP D
        POP B
        MVI A,1
        STA PCSENT              ; SENDFM, if it was interrupted, sends its frame again
        XRA A                   ; from here on another report may be requested
        DI                      ; but none before RET
        STA PCREQ
        POP PSW                 ; last: XRA has changed AF
; Takes effect after RET: however many zeros come, the stack does not grow.
        EI
        RET
        .END
