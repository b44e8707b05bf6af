; Decoding of COBS, inserted by what receives frames.

; DECODE - decodes the bytes of a frame up to its delimiter.
;   Entry:    A = the first byte; HL = where they go, B = room for them, one more than a frame has
;   Exit:     HL after the last, B = the room that is left
;   Errors:   BAD, if the frame ends within a group; LONG, if there is no room
;   Clobbers: AF, C, and what NEXT does
; NEXT is a macro or an instruction that takes the next byte into A and leaves B, C and HL as they
; are; DROP is what follows a byte for which there was no room, and does not end here.
        .DEFINE DECODE[NEXT,BAD,DROP,LONG]=[
..GRP:  MOV C,A                 ; one more than the bytes of this group
..COPY: DCR C
        JRZ ..ZERO              ; the group is complete
        NEXT
        ORA A                   ; no byte of a group is 0
        JRZ BAD                 ; the frame ends within a group
        MOV M,A
        INX H
        DJNZ ..COPY
        DROP
..ZERO: NEXT
        ORA A
        JRZ ..END               ; the last group's zero is not there
        MVI M,0                 ; a group encodes its bytes and a zero
        INX H
        DJNZ ..GRP              ; no more than a frame has room for
        JMPR LONG
..END:
]
