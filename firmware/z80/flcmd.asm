; Commands to flash chips of the SST39SF family. They run from RAM: while such a chip is busy or
; reports its identity, no code can be fetched from it. Their interrupts must be off for the same
; reason.
;
; The chip decodes its commands from A14 to A0. The first two windows show its first two pages, so
; processor and chip agree on the addresses.

        .IDENT FLCMD
        .INTERN FLINIT,IDNTFY,PROGRM,ERASE,REBOOT

FIRST   == 5555H
SECOND  == 2AAAH
STAGE   == 8000H        ; where a new boot sector waits
SECTOR  == 1000H        ; bytes of a sector
TRIES   == 3            ; attempts at the boot sector
ROOM    == 128          ; for the commands in RAM

        .LOC .DATA.
HERE:   .BLKB ROOM      ; the commands in RAM

        .LOC .PROG.
; FLINIT - puts the commands into RAM.
;   Entry:    nothing
;   Exit:     IDNTFY, PROGRM, ERASE and REBOOT can be called
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    0 bytes
;   Cycles:   2651
FLINIT: LXI H,CODE
        LXI D,HERE
        LXI B,LENGTH
        LDIR
        RET

CODE:
C.UNLK: MVI A,0AAH              ; every command begins with these two writes
        STA FIRST
        MVI A,55H
        STA SECOND
        RET

; IDNTFY - reads the chip's identity.
;   Entry:    interrupts off
;   Exit:     L = manufacturer, H = device; what is at 0000H when no chip listens
;   Errors:   none
;   Clobbers: AF
;   Stack:    2 bytes
;   Cycles:   135
C.IDNT: CALL UNLOCK
        MVI A,90H               ; the chip shows its identity in place of bytes
        STA FIRST
        LHLD 0                  ; L = manufacturer at 0000H, H = device at 0001H
        MVI A,0F0H              ; bytes again
        STA FIRST
        RET

; PROGRM - programs a byte.
;   Entry:    C = byte, DE = its address in a window; interrupts off
;   Exit:     Z set when it is there
;   Errors:   Z clear when it is not there after 1.3 ms, 60 times what the chip may take
;   Clobbers: AF, B
;   Stack:    2 bytes
;   Cycles:   130..10300
C.PROG: CALL UNLOCK
        MVI A,0A0H              ; the next write programs one byte
        STA FIRST
        MOV A,C
        STAX D
        MVI B,0                 ; 256 looks
..WAIT: LDAX D                  ; bit 7 is wrong while the chip is busy
        CMP C
        RZ
        DJNZ ..WAIT
        RET

; ERASE - erases a sector.
;   Entry:    DE = any address of it in a window; interrupts off
;   Exit:     Z set when the byte there is erased
;   Errors:   Z clear when it is not after 0.4 s, 15 times what the chip may take
;   Clobbers: AF, BC
;   Stack:    2 bytes
;   Cycles:   190..2900000
C.ERAS: CALL UNLOCK
        MVI A,80H               ; the first half of the command
        STA FIRST
        CALL UNLOCK             ; erasing is unlocked twice
        MVI A,30H               ; this sector; 10H would be the whole chip
        STAX D
        LXI B,0                 ; 65536 looks
..LOOK: LDAX D                  ; bit 7 is 0 while the chip is busy
        INR A                   ; FFH becomes 0: erased
        RZ
        DCX B
        MOV A,B
        ORA C
        JRNZ ..LOOK
        INR A                   ; not zero
        RET

; REBOOT - replaces the boot sector by the bytes at STAGE and starts it.
;   Entry:    interrupts off
;   Exit:     never
;   Errors:   after three attempts it halts: only a programmer can help then
;   Clobbers: everything
;   Stack:    4 bytes
;   Cycles:   1600000..10000000
C.BOOT: MVI A,TRIES
..TRY:  EXAF                    ; attempts left: all else is used
        LXI D,0                 ; from the first byte of the chip on
        CALL ERASE
        JRNZ ..FAIL             ; the sector is not erased
        LXI H,STAGE
..BYTE: MOV C,M
        MOV A,C
        INR A                   ; nothing to do for FFH
        CNZ PROGRM
        JRNZ ..FAIL             ; Z is set after FFH, too
        INX H
        INX D
        MOV A,D
        CPI SECTOR/256          ; one sector
        JRNZ ..BYTE
        JMP 0                   ; the new monitor; this code is in RAM
..FAIL: EXAF
        DCR A
        JRNZ ..TRY
        HLT
LENGTH  == .-CODE
        .IFG LENGTH-ROOM,[.ERROR "the commands need more room in RAM"]

; Where the commands are in RAM.
UNLOCK  == HERE+(C.UNLK-CODE)
IDNTFY  == HERE+(C.IDNT-CODE)
PROGRM  == HERE+(C.PROG-CODE)
ERASE   == HERE+(C.ERAS-CODE)
REBOOT  == HERE+(C.BOOT-CODE)
        .END
