; Fetches the next attacker or defender from the attackers array.

        .IDENT NEXTAD
        .INTERN NEXTAD
        .INSERT sargon.asm

; NEXTAD - changes sides and takes the least valuable piece out of the other side's section.
;   An entry whose low half is empty is found all the same, so none is lost. The walk along the
;   section is bounded: White's section lies below O.BACT, Black's at or above it, and the byte at
;   O.END is never 0. In the original the walk continues beyond the section, up to the fence, and
;   takes what it finds there; a byte with an empty low half ends it, the fence among them. XCHNG
;   sees from the pointers that this happened.
;   Entry:    C = side flag; B' = count of the side just served, C' = count of the other;
;             HL' and DE' = where their sections were left; H' and D' = the data page
;   Exit:     Z clear: A = value of the piece; Z set: A = 0, the side has none left
;             C + 1; B' C' and HL' DE' exchanged, the count and the section one piece shorter
;   Errors:   the count exceeds the section's entries: as if none were left, B.SHRT of STATUS
;             set; original only if an empty low half ends the walk
;   Clobbers: F
;   Stack:    0 bytes; original 2
;   Cycles:   58..286 over the corpus; original 58..1764
NEXTAD: INR C                   ; the side flag belongs to the set that the caller has current
        EXX
        MOV A,B
        MOV B,C                 ; the other side's count comes to the front
        MOV C,A
        XCHG                    ; and so does its section
        XRA A
        CMP B                   ; has it any left?
        JRZ ..DONE
        DCR B                   ; one fewer
        .IFE ORIGINAL,[
        BIT 7,L                 ; bit 7 of its address selects the section
        JRNZ ..BLK
..WHT:  INR L
        CMP M
        JRZ ..WHT               ; an empty slot
        BIT 7,L
        JRNZ ..SHRT             ; walked into Black's section
..TAKE: RRD                     ; A = the low half; the high one comes down
        ZOFA
        JRZ ..TAKE              ; only the high half had a piece: it is low now
        DCR L                   ; the byte may have another; Z is clear, L is never 0
        EXX
        RET
..BLK:  INR L
        CMP M
        JRZ ..BLK
        MOV A,L
        CPI O.END               ; past the array's end?
        JRZ ..SHRT
        XRA A
        JMPR ..TAKE
..SHRT: MVI L,O.STAT
        SET B.SHRT,M            ; the count promised too much
        XRA A
        MOV B,A                 ; the count was wrong: there are none
..DONE: EXX
        RET
][
..NEXT: INR L
        CMP M
        JRZ ..NEXT              ; no test for the end: the fence is not 0
        RRD                     ; A = the low half
        ZOFA
        JRZ ..SHRT              ; nothing in it
        DCX H                   ; not DCR L: it would change Z
..DONE: EXX
        RET
..SHRT: PUSH H
        MVI L,O.STAT
        SET B.SHRT,M
        POP H
        DCX H
        EXX
        RET
]
        .END
