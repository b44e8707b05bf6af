; Plays out the captures on one square, as fast as the Z80 can.

        .IDENT XCHFST
        .INTERN XCHNG
        .EXTERN P1,T3,WACT,BACT
        .INSERT sargon.asm

; The registers while an exchange is played:
;   first set:   B defenders left and one   DE defender's section
;                C attackers left           HL attacker's section
;   second set:  B and C points at stake, value of the attacker: they change places with each
;                capture, since the capturer is the piece on the square next
;                E residue
; What makes it faster than xchng.asm: the walk along a section is inlined where NEXTAD would be
; called; each side has its own code, so that there is no side flag and nothing is exchanged; and
; whether a capturer is dearer than what it takes is seen as soon as it is known, so that a capture
; is booked before its guard is sought.

; FETCH - takes the attackers' next piece: A its value. With none left, goes to EXIT.
;   The byte itself suffices: below 10H it is one piece, in the low half, and the walk may go past
;   it. Only for two pieces in a byte SPLIT, which belongs to the FETCH of the same TAG, leaves the
;   second to be found next.
        .DEFINE FETCH[EXIT,TAG]=[
        EXX
        DCR C                   ; one more than what is left
        JRZ EXIT
        WALK TAG
]
        .DEFINE WALK[TAG,%NEXT]=[
        XRA A
%NEXT:  INR L                   ; past the empty slots
        ORA M
        JRZ %NEXT
        CPI 10H                 ; one piece or two?
        JRNC S.'TAG             ; two, or one in the high half
G.'TAG: EXX
]
        .DEFINE SPLIT[TAG]=[
S.'TAG: XRA A
        RRD                     ; A = the low half; the high one comes down
        ZOFA
        DCX H                   ; leaves Z, which is set if the low half was empty
        JNZ G.'TAG              ; the walk will come back to this byte
        JMP H.'TAG
]
; HALF - the byte that SPLIT has shifted had nothing in its low half: takes what was in the other.
; If that was a fence, goes to EXIT.
        .DEFINE HALF[EXIT,TAG]=[
H.'TAG: CALL ALONE
        JNZ G.'TAG
        JMP EXIT
]

; ANSWER, SPLITA, HALFA - the same for the defenders.
        .DEFINE ANSWER[EXIT,TAG,%NEXT]=[
        EXX
        DCR B                   ; one more than what is left
        JRZ EXIT
%NEXT:  INR E                   ; past the empty slots
        LDAX D
        ORA A                   ; LDAX leaves the flags
        JRZ %NEXT
        CPI 10H                 ; one piece or two?
        JRNC S.'TAG
G.'TAG: EXX
]
        .DEFINE SPLITA[TAG]=[
S.'TAG: XCHG
        XRA A
        RRD                     ; as SPLIT
        ZOFA
        XCHG
        DCX D                   ; leaves Z
        JNZ G.'TAG
        JMP H.'TAG
]
        .DEFINE HALFA[EXIT,TAG]=[
H.'TAG: XCHG
        CALL ALONE
        XCHG
        JNZ G.'TAG
        JMP EXIT
]

; XCHNG - computes the points that the owner of a square stands to lose on it.
;   Entry:    P1 = the piece on the square, T3 = its type in the table page, ATKLST filled, FENCE
;             after it
;   Exit:     E = residue, 0 to the piece's value; either register set may be current; ATKLST and
;             fence used up
;   Errors:   B.SHRT of STATUS set if a count exceeds its section's entries
;   Clobbers: AF, BC, DE, HL of both sets
;   Stack:    2 bytes
;   Cycles:   140..1239 over the corpus
XCHNG:  LHLD T3
        MOV B,M                 ; PVALUE is at the start of the table page
        EXX                     ; the points at stake are B of the second set
        LDA P1
        RLC                     ; carry: a Black piece, which White attacks
        JRNC WHITE
        LXI D,BACT              ; Black defends, White attacks
        LDAX D                  ; defenders' count
        INR A                   ; one more than there are
        MOV B,A
; The count is known: where it stood, White's section ends, as one after.
        MVI A,FENCE
        STAX D                  ; Black's ends that
        LXI H,WACT              ; the walk starts one before the first slot
        MOV A,M
        ORA A                   ; how many attack?
        JRZ NOBODY              ; falls into BEGIN
BEGIN:  MOV C,A                 ; with the first one taken, one more than are left
        WALK 1                  ; the first attacker
        MOV C,A                 ; its value; the second set is current
        MOV A,B                 ; the points at stake
        CMP C                   ; carry: the stake is less
        JRC DEAR1               ; dearer than what it takes: only if nothing cheaper answers
        MOV E,A                 ; takes it; falls into TAKEN1

; The attackers have captured: C is at stake.
TAKEN1: ANSWER NONE,2           ; nothing guards the square
        MOV B,A                 ; what guards the square is to capture next
        MOV A,C
        CMP B                   ; dearer than the piece that has just taken?
        JRC DEAR2
        MOV A,E                 ; the defenders take back
        SUB C                   ; the owner gets the attacker's value back
        MOV E,A

; The defenders have captured: B is at stake.
        FETCH NONE,3            ; no attacker left: the residue is final
        MOV C,A                 ; the next attacker
        MOV A,B
        CMP C                   ; dearer than what it would take?
        JRC DEARER
        ADD E                   ; the owner loses that, too
        MOV E,A
        JMPR TAKEN1

; The ends: no more captures, or the last one.
NONE:   EXX                     ; back to the set with the residue
        RET
NOBODY: MVI E,0                 ; no attackers: nothing is lost
        RET
ADDED:  EXX
        MOV A,E
        ADD B                   ; the last capture counts
        MOV E,A
        RET
SUBBED: EXX
        MOV A,E
        SUB C                   ; the last one is the defenders'
        MOV E,A
        RET

; A White piece is attacked by Black.
WHITE:  LXI D,WACT              ; White defends, Black attacks
        LDAX D
        INR A                   ; one more than there are
        MOV B,A
        LXI H,BACT
        MOV A,M
        MVI M,FENCE             ; the count is known: here White's section ends
        ORA A
        JRNZ BEGIN
        JMPR NOBODY

        SPLIT 1
        SPLITA 2
        SPLIT 3

; The attacker C is worth more than what it would take. Its side continues only while each piece
; that recaptures is worth at least as much and there is another attacker.
DEAR1:  MVI E,0                 ; nothing is booked yet; falls into DEARER
DEARER: ANSWER ADDED,4          ; none answers: it takes at no risk
        CMP C                   ; a guard cheaper than the attacker:
        RC                      ; it stays as it is
        FETCH NONE,5            ; no help: it stays away
        MOV C,A                 ; the helper is the dearer one now
        JMPR DEARER

; The same for the defenders' B.
DEAR2:  FETCH SUBBED,6          ; none answers: the defender takes at no risk
        CMP B                   ; an attacker cheaper than the defender:
        RC                      ; it stays as it is
        ANSWER NONE,7           ; no help: it stays away
        MOV B,A                 ; the helper is the dearer one now
        JMPR DEAR2

        SPLITA 4
        SPLIT 5
        SPLIT 6
        SPLITA 7
        HALF NOBODY,1
        HALFA NONE,2
        HALF NONE,3
        HALFA ADDED,4
        HALF NONE,5
        HALF SUBBED,6
        HALFA NONE,7

; ALONE - Z clear: A = the value of the piece that was in the high half of the byte after HL; Z set:
; it was a fence, and a count promised too much.
ALONE:  INR L
        MOV A,L
        CPI O.BACT              ; White's fence
        JRZ ..SHRT
        CPI O.END               ; Black's
        JRZ ..SHRT
        XRA A                   ; RRD turns the low half of A in: it must be 0
        RRD                     ; the other half
        ZOFA
        RET
..SHRT: MVI L,O.STAT            ; H is the data page; returns with Z set
        SET B.SHRT,M            ; SET leaves Z set, from the comparison
        RET
        .END
