; Plays out the captures on one square.

        .IDENT XCHNG
        .INTERN XCHNG,XCBOOK,XCLAST
        .EXTERN NEXTAD,P1,T3,WACT,BACT,STATUS
        .INSERT sargon.asm

; The registers while an exchange is played (the article's Table 2):
;   first set:   B defenders left   DE attacker's section   HL defender's section
;                C attackers left
;   second set:  B points at stake  C side flag: bit 0 is 1 once the defender's side captures
;                E residue          L value of the attacker
;   AF':         A value of the defender
; NEXTAD exchanges the sides with each piece it fetches (Table 3). In XCHNG the second set is
; current.

; XCHNG - computes the points that the owner of a square stands to lose on it.
;   Entry:    P1 = the piece on the square, T3 = its type in the table page, ATKLST filled, FENCE
;             after it
;   Exit:     E = residue, 0 to the piece's value; either register set may be current; ATKLST used
;             up
;   Errors:   B.SHRT of STATUS set if a count exceeds its section's entries
;   Clobbers: AF, BC, DE, HL of both sets, AF'
;   Stack:    2 bytes; original 4
;   Cycles:   193..2357 over the corpus; original 193..3932
XCHNG:  LXI H,BACT              ; one before the first slot, NEXTAD's argument
        LXI D,WACT
        LDA P1
        RLC                     ; carry: a Black piece
        JRC ..SET
        XCHG                    ; a White piece is attacked by Black
..SET:  MOV B,M                 ; defenders' count
        LDAX D
        MOV C,A                 ; attackers' count
        EXX
        LXI B,0
        MOV E,C                 ; residue 0
        LHLD T3                 ; its type, in the table page
        MOV B,M                 ; PVALUE is at the start of the table page
        CALL NEXTAD
        RZ                      ; no attackers: nothing is lost
        MOV L,A                 ; the first attacker; falls into GUARD

; An attacker is at hand. What guards the square against it?
GUARD:  CALL NEXTAD             ; Z: the other side has no piece left
        JRZ LAST                ; nothing: the piece is lost
        EXAF                    ; save the guard
        MOV A,B
        CMP L                   ; stake less than the attacker?
        JRC DEARER
        BIT 0,C                 ; not dearer than what it takes: it takes
        JRNZ WINBAK
        ADD E                   ; the owner loses it
        MOV E,A                 ; falls into XCBOOK
XCBOOK: MOV B,L                 ; the capturer is now on the square,
        EXAF
        MOV L,A                 ; and the defender is the one to capture
        JMPR GUARD
WINBAK: MOV A,E
        SUB B                   ; the other side loses what it has just captured with
        MOV E,A
        JMPR XCBOOK

; The attacker is worth more than what it would take. Its side continues only while each piece
; that recaptures is worth at least as much and there is another attacker.
DEARER: EXAF                    ; A = the guard
..NEXT: CMP L                   ; the guard is cheaper than the attacker:
        .IFE ORIGINAL,[RC][JRC DONE]
        CALL NEXTAD             ; help for the attacker
        .IFE ORIGINAL,[RZ][JRZ DONE]
        MOV L,A                 ; the helper is the dearer one now
        CALL NEXTAD             ; what answers it?
        JRNZ ..NEXT             ; falls into LAST

; Nothing recaptures: the last capture.
LAST:   MOV A,B                 ; the last capture
        BIT 0,C                 ; whose is it?
        JRZ ..ADD
        NEG                     ; the owner wins it back
..ADD:  ADD E
        MOV E,A
        .IFE ORIGINAL,[
XCLAST: RET
][
XCLAST: NOP                     ; for probes, an address of its own; falls into DONE

; In the original nothing confines a walk to its section. The final pointers show whether one was
; outside: each is one before the byte that was found last.
DONE:   EXX
        INR L
        INR E                   ; where the last bytes were found
        MOV A,L
        XRA E                   ; bit 7: whether they are in different halves
        MOV A,L
        JP ..SHRT               ; both in Black's section or after it
        CMP E                   ; which one got farther?
        JRNC ..MORE
        MOV A,E
..MORE: CPI O.PAST
        JRNC ..SHRT             ; beyond Black's section
        EXX
        RET
..SHRT: EXX
        LXI H,STATUS
        SET B.SHRT,M
        RET
]
        .END
