; An application that a monitor of another make has started goes back to it: the processor and the
; serial chip are left as that monitor had them, as far as programs can observe.

        .IDENT HOSTED
        .INTERN HOST,GOHOME
        .EXTERN UHAND

; HBIOS's mark, 'W' and its complement, and its version, as RomWBW's own programs look for them.
HBIOS   == 0FE00H
HBMARK  == 0A857H
HBTWO   == 29H          ; 2.9
HBPAGE  == 78H          ; its page register of the first window, whatever board APP was built for

        .LOC .DATA.
; What APP found: register I in the high byte; bit 2 of the low one: interrupts were on.
HOST:   .BLKW 1

        .LOC .PROG.
; GOHOME - starts the monitor again by a jump to 0000H, which is ROM's reset or a jump of CP/M's or
; RomWBW's. These are served in mode 1; one that polls the chip must not be interrupted by it.
; RomWBW 2.9's jump leads nowhere: there the ROM's first page goes to 0000H, as after a reset.
;   Entry:    the transmit ring is empty
;   Exit:     never
;   Errors:   none
;   Clobbers: everything
;   Stack:    4 bytes
;   Cycles:   150..330
GOHOME: DI
        .IFE Z180,[             ; its devices have no mode, and RomWBW 2.9 other banks
        IM1
        LHLD HBIOS              ; the mark, if RomWBW is there
        LXI D,HBMARK
        ORA A
        DSBC D
        JRNZ ..HOST             ; not RomWBW
        LDA HBIOS+2             ; its version, two digits
        CPI HBTWO
        JRNZ ..HOST
        XRA A
        OUT HBPAGE              ; the ROM's first page in the first window
        JMP 0
        ]
..HOST: LHLD HOST
        MOV A,H                 ; register I as it was
        STAI
        MOV A,L
        ANI 4                   ; P/V, which LDAI sets to IFF2
        PUSH PSW
        CALL UHAND              ; Z set: the monitor polls
        POP PSW
        JRZ ..POLL
        EI                      ; as they were; the jump comes before any interrupt
..POLL: JMP 0
        .END
