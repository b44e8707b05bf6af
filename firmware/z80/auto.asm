; The program in flash: a header at SLOT, the program after it.
;
;    0  "SARG"
;    4  flags: bit 0 start it after a reset
;    5  0
;    6  entry address
;    8  bytes of the program after the header
;   10  0, 0
;   12  CRC-32 of the 12 bytes before and of the program
;
; A loader writes the header last, so that an incomplete program has none.

        .IDENT AUTO
        .INTERN AUTO
        .EXTERN UTEST,PUTS,UDRAIN,CRCNEW,CRCALL,CRCEQU
        .INSERT wire.asm

FLAGS   == SLOT+4
ENTRY   == SLOT+6
SLOTN   == SLOT+8
CHKLEN  == 12                   ; bytes of the header before the check
CR      == 0DH
LF      == 0AH

; AUTO - starts the program in flash if its header is valid, autostart is set and no byte
; arrives.
;   Entry:    interrupts on
;   Exit:     only if nothing is to be started
;   Errors:   a damaged program is not started
;   Clobbers: everything
;   Stack:    16 bytes
;   Cycles:   98..8500000 and 120 a byte of the program
AUTO:   LXI H,SLOT
        LXI D,MAGIC             ; the header's first four bytes
        MVI B,FLAGS-SLOT
..NEXT: LDAX D
        CMP M
        RNZ                     ; no header: blank, or half written
        INX H
        INX D
        DJNZ ..NEXT
        BIT 0,M                 ; FLAGS: start after a reset?
        RZ
        LXI H,SLOT
        LXI B,CHKLEN            ; the header up to the check
        CALL CRCNEW
        LXI H,SLOT+SLOTLN
        LBCD SLOTN
        CALL CRCALL             ; and the program
        LXI D,SLOT+CHKLEN
        CALL CRCEQU             ; the check is the last of the header
        RNZ                     ; damaged
        LXI H,SAYS
        CALL PUTS
        LXI B,0                 ; 65536 polls, 0.8 s at 7.37 MHz
..LOOK: CALL UTEST
        RNZ                     ; a byte arrived: stay in the monitor
        DCX B
        MOV A,B
        ORA C
        JRNZ ..LOOK
        CALL UDRAIN             ; send the text before the chip is initialized again
        DI                      ; the program installs its own interrupts
        LHLD ENTRY
        PCHL

MAGIC:  .ASCII /SARG/
SAYS:   .ASCII /Starting the program in flash; any key stops it/
        .BYTE CR,LF,0
        .END
