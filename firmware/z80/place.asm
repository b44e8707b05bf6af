; Where the program is, told to a host that has waited too long: the heartbeat of a program that
; takes nothing from the receive ring any more (docs/PROTOCOL.md, "Program counter report").
;
; The service sees eight zeros in a row, which no request has. It lets the program return to PLACE
; before it goes on.

        .IDENT PLACE
        .INTERN ZEROS,MISSED,ASKED,TOLD
        .EXTERN RXIN,OVRUN,SENDFM,UDRAIN
        .INSERT wire.asm

        .LOC .DATA.
ZLAST:  .BLKB 1         ; low half of where the last zero was put
ZCOUNT: .BLKB 1         ; zeros in a row
FOUND:  .BLKW 1         ; where the program was
ASKED:  .BLKB 1         ; not 0 from then on until that was told
TOLD:   .BLKB 1         ; set when it has been told: what was being sent is broken off
PLCFRM: .BLKB BODY+3    ; the frame that tells it

        .LOC .PROG.
; MISSED - for the service: a byte is lost.
;   Entry:    where RXIN points is the byte for which there is no room; interrupts off
;   Exit:     OVRUN is not 0
;   Errors:   none
;   Clobbers: AF, HL
;   Stack:    0 bytes
;   Cycles:   58..79
MISSED: MVI A,1
        STA OVRUN
        LHLD RXIN
        MOV A,M
        ORA A
        RZ
        XRA A
        STA ZCOUNT              ; any other byte breaks the run of zeros
        RET

; ZEROS - for the service: a zero was received. With seven more before it the program is to tell its
; place.
;   Entry:    HL = where it was put; interrupts off; called by the service, which has pushed AF and
;             HL
;   Exit:     the service returns to where it came from, or to PLACE
;   Errors:   none
;   Clobbers: AF
;   Stack:    4 bytes
;   Cycles:   104..283
ZEROS:  LDA ZLAST               ; where the zero before was put
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

; ASK - makes the service return to PLACE, unless that is under way.
ASK:    LDA ASKED
        ORA A
        RNZ
        INR A                   ; 0 becomes 1: under way
        STA ASKED
        PUSH H
        PUSH D                  ; DE and HL are the program's
        LXI H,10                ; what is pushed: DE, HL, our return, then HL and AF by the service
        DAD SP
        LXI D,PLACE             ; the service is to return there
        MOV A,M
        MOV M,E                 ; PLACE in, the program's address out
        MOV E,A
        INX H
        MOV A,M
        MOV M,D
        MOV D,A
        SDED FOUND              ; where the program was stopped
        POP D
        POP H
        RET

; PLACE - tells where the program was, and returns there.
;   Entry:    a return from the service; FOUND = the place; interrupts on
;   Exit:     the place is told
;   Errors:   none
;   Clobbers: nothing
;   Stack:    28 bytes
;   Cycles:   up to 170000
PLACE:  PUSH H                  ; room for the address on the stack
        LHLD FOUND
        XTHL                    ; FOUND is where RET goes; HL is the program's again
        PUSH PSW
        PUSH B
        PUSH D
        PUSH H                  ; all that SENDFM uses
        LDED FOUND              ; the place, to be sent
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
        CALL SENDFM             ; a frame of its own: P.DATA may be half filled
        CALL UDRAIN             ; without the transmitter's interrupt, too
        POP H
        POP D
        POP B
        MVI A,1
        STA TOLD                ; SENDFM, if that was under way, sends its frame once more
        XRA A                   ; from here on it may be asked again
        DI                      ; until RET nobody may ask again
        STA ASKED
        POP PSW                 ; last: XRA has changed AF
; Takes effect after RET: however many zeros come, the stack does not grow.
        EI
        RET
        .END
