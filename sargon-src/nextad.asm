; Fetches the next attacker or defender from the attackers array.

        .IDENT NEXTAD
        .INTERN NEXTAD
        .INSERT sargon.asm

; NEXTAD - changes sides and takes the least valuable piece out of the other side's section.
;   An entry whose low half is empty is found all the same, so none is lost. The walk
;   along the section is bounded: White's section lies below O.BACT, Black's at or above it, and the
;   byte at O.END is never 0.
;   Entry:    C = side flag; B' = count of the side just served, C' = count of the other;
;             HL' and DE' = where their sections were left; H' and D' = the data page
;   Exit:     Z clear: A = value of the piece; Z set: A = 0, the side has none left
;             C + 1; B' C' and HL' DE' exchanged, the count and the section one piece shorter
;   Errors:   the count promises more than the section holds: as if none were left, B.SHRT of STATUS set
;   Clobbers: F
;   Stack:    0 bytes
;   Cycles:   58..286 over the corpus
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
        .END
