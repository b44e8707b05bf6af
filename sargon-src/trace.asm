; Plays out the captures on one square and notes every step, for people to read.

        .IDENT TRACE
        .INTERN TRACE
        .EXTERN NEXTAD,P1,WACT,BACT
        .INSERT sargon.asm

; While a battle is traced:
;   B   points at stake   C   side flag: bit 0 is 0 when the first attacker's side captures
;   D   the defender      E   the residue     L   the attacker     IX  where the next record goes

; TRACE - plays a battle out as XCHNG does, one record a step.
;   It is slower and plainer than XCHNG and a second opinion on it. A record has S.LEN bytes: what
;   was done (S.TAKE and so on, bit 7 set when the defender's side does it), points at stake,
;   attacker, defender, residue after it.
;   Entry:    A = points at stake, P1 = the piece on the square, ATKLST filled, IX = room for 24
;             records
;   Exit:     IX = after the last record; there is none without attackers
;   Errors:   B.SHRT of STATUS set when a count exceeds its section's entries
;   Clobbers: AF, BC, DE, HL of both sets, IX
;   Stack:    4 bytes
;   Cycles:   180..3000 by the length of the exchange
TRACE:  EXX                     ; the stake belongs to the set that stays current
        MOV B,A
        EXX
        LXI H,BACT
        LXI D,WACT
        LDA P1
        RLC                     ; carry: a Black piece
        JRC ..SET
        XCHG                    ; a White piece is attacked by Black
..SET:  MOV B,M                 ; defenders' count
        LDAX D
        MOV C,A                 ; attackers' count
        EXX
        XRA A
        MOV C,A                 ; no piece has captured
        MOV E,A                 ; nothing is lost
        CALL NEXTAD             ; the first attacker
        RZ                      ; no attackers
        MOV L,A                 ; it is to capture
..NEXT: CALL NEXTAD             ; what guards the square?
        MOV D,A
        JRZ ..LAST              ; nothing: the last capture
        MOV A,B
        CMP L                   ; stake less than the attacker?
        JRC ..DEAR
        MVI H,S.TAKE            ; not dearer than what it takes
        CALL TAKEN
        MOV B,L                 ; the capturer is on the square now, the defender captures next
        MOV L,D                 ; and the guard is to capture
        JMPR ..NEXT
..DEAR: MOV A,D
        CMP L                   ; is the guard cheaper?
        MVI H,S.STOP            ; the guard is cheaper
        JRC NOTE
        MVI H,S.HELP
        CALL NOTE
        CALL NEXTAD             ; help for the attacker
        JRZ ..ALON              ; the side has none left
        MOV L,A                 ; the helper is the dearer one now
        CALL NEXTAD             ; what answers it?
        MOV D,A
        JRNZ ..DEAR
..LAST: MVI H,S.LAST
        JMPR TAKEN
..ALON: MOV A,0-S.LEN(X)        ; there is no help after all
        ADI S.ALON-S.HELP       ; it was noted as a call for help
        MOV 0-S.LEN(X),A        ; in the record before: IX is after it
        RET

; TAKEN - books the points at stake and notes the step H.
TAKEN:  MOV A,B
        BIT 0,C                 ; whose capture? The flag's bit 0
        JRZ ..ADD
        NEG                     ; the owner wins it back
..ADD:  ADD E
        MOV E,A                 ; falls into NOTE

; NOTE - notes the step H.
NOTE:   MOV A,C                 ; the side
        RRC                     ; bit 0 of the flag to bit 7
        ANI 80H
        ORA H                   ; with what was done
        MOV 0(X),A
        MOV 1(X),B              ; points at stake
        MOV 2(X),L              ; attacker
        MOV 3(X),D              ; defender, 0 for none
        MOV 4(X),E              ; residue after the step
        PUSH D                  ; DADX needs a pair
        LXI D,S.LEN
        DADX D
        POP D
        RET
        .END
