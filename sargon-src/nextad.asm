; Fetches the next attacker or defender from the attackers array.

        .IDENT NEXTAD
        .INTERN NEXTAD
        .INSERT sargon.asm

; NEXTAD - changes sides and takes the least valuable piece out of the other side's section.
;   An entry whose low half is empty is found all the same, so none is lost. The walk along the section is
;   bounded: White's section lies below O.BACT, Black's at or above it, and the byte at O.END is never 0.
;   As in 1978 the walk goes on beyond the section, up to the fence, and takes what it finds
;   there; a byte with an empty low half ends it, the fence among them.
;   Entry:    C = side flag; B' = count of the side just served, C' = count of the other;
;             HL' and DE' = where their sections were left; H' and D' = the data page
;   Exit:     Z clear: A = value of the piece; Z set: A = 0, the side has none left
;             C + 1; B' C' and HL' DE' exchanged, the count and the section one piece shorter
;   Errors:   the count promises more than the section holds: as if none were left, B.SHRT of STATUS
;             set; as in 1978 B.SHRT is set by a step beyond the section or on an empty low half
;   Clobbers: F
;   Stack:    0 bytes; as in 1978 4
;   Cycles:   58..286 over the corpus; as in 1978 58..4823
NEXTAD: INR C
        EXX
        MOV A,B
        MOV B,C
        MOV C,A
        XCHG
        XRA A
        CMP B
        JRZ ..DONE
        DCR B
        .IFE FAULT78,[
        BIT 7,L
        JRNZ ..BLK
..WHT:  INR L
        CMP M
        JRZ ..WHT
        BIT 7,L
        JRNZ ..SHRT             ; walked into Black's section
..TAKE: RRD
        JRZ ..TAKE              ; only the high half held a piece: it is low now
        DCR L                   ; the byte may hold another; Z is clear, L is never 0
        EXX
        RET
..BLK:  INR L
        CMP M
        JRZ ..BLK
        MOV A,L
        CPI O.END
        JRZ ..SHRT
        XRA A
        JMPR ..TAKE
..SHRT: MVI L,O.STAT
        SET B.SHRT,M
        XRA A
        MOV B,A
..DONE: EXX
        RET
][
..NEXT: INR L
        MOV A,L
        CPI O.BACT
        CZ NXSHRT
        CPI O.PAST
        CZ NXSHRT
        XRA A
        CMP M
        JRZ ..NEXT
        RRD
        CZ NXSHRT
        DCR L
        ORA A
..DONE: EXX
        RET
NXSHRT: PUSH H
        MVI L,O.STAT
        SET B.SHRT,M
        POP H
        RET
]
        .END
