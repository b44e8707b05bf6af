; The monitor's requests about the flash chip (docs/PROTOCOL.md). Its pages are looked at through
; the third window.

        .IDENT FLASH
        .INTERN DOCHIP,DOERAS,DOPROG,DOFCRC,DOVRFY,DOFRED,DOBOOT,CRCNEW,CRCALL,CRCEQU
        .EXTERN IDNTFY,PROGRM,ERASE,REBOOT,CRC32,CHECK,FLIP
        .EXTERN PUTDE,PUTFRM,PUTERR,NEWRPL,UDRAIN,R.LEN,R.DATA,P.LEN
        .INSERT wire.asm

MAKER   == 0BFH                 ; SST
DEVICE  == 0B5H                 ; SST39SF010A; the next are 020A and 040
DEVICS  == 3
WINREG  == BANKS+2              ; the page register
WINADR  == 8000H                ; what it shows is here
WINEND  == 0C0H                 ; up to here, high byte

; DOCHIP, DOERAS, DOPROG, DOFCRC, DOVRFY, DOFRED - answer the requests about the chip.
;   Entry:    R.LEN and R.DATA = the request
;   Exit:     the reply is on its way; the third window shows RAM again
;   Errors:   as each request has them; answered by the error reply
;   Clobbers: AF, BC, DE, HL of both sets
;   Stack:    30 bytes
;   Cycles:   10000..3000000
;
; A request's body ends with carry clear and the reply made, or with carry set, C = code and DE =
; detail.
DOCHIP: LXI H,CHIP
        JMPR REPLY
DOERAS: LXI H,ERASEC
        JMPR REPLY
DOPROG: LXI H,PROGBL
        JMPR REPLY
DOFCRC: LXI H,FCRC
        JMPR REPLY
DOVRFY: LXI H,VERIFY
        JMPR REPLY
DOFRED: LXI H,FREAD             ; falls into REPLY
REPLY:  CALL ..BODY
        MVI A,RAMPGE            ; carry stays
        OUT WINREG              ; OUT leaves carry: what the body found
        JC PUTERR
        JMP PUTFRM
..BODY: PCHL

; CHIP - replies with the chip's identity and size.
CHIP:   CALL KNOWN
        RC                      ; C = E.CHIP, DE = identity
        PUSH H                  ; sectors
        PUSH D                  ; identity
        CALL NEWRPL
        POP D
        CALL PUTDE              ; the identity
        POP D
        CALL PUTDE              ; the sectors
        MVI M,KEPT              ; the boot sector
        MVI A,5
        JMP MADE

; ERASEC - erases a sector, and looks that every byte of it is.
ERASEC: CALL KNOWN
        RC
        LDED R.DATA             ; the sector
        CALL GUARD              ; HL = sectors, DE = sector
        RC
        MOV C,E                 ; its number
        CALL MAPSEC             ; where it is seen
        MVI E,0                 ; DE = its first byte in the window
        DI
        CALL ERASE              ; from RAM, as all commands
        EI                      ; the chip answers with its content again
        MVI C,E.TIME            ; the code if it has not ended; MVI leaves Z
        JRNZ ..SAY
..NEXT: LDAX D
        INR A                   ; every byte must be FFH
        MVI C,E.READ            ; the code if a byte is not erased; MVI leaves Z
        JRNZ ..SAY
        INX D
        MOV A,D
        ANI 0FH                 ; to the end of the sector
        ORA E
        JRNZ ..NEXT
        CALL NEWRPL
        LDED R.DATA
        CALL PUTDE
        MVI A,2
        JMP MADE
..SAY:  LDED R.DATA             ; the sector
        STC
        RET

; PROGBL - programs bytes within a sector. Bytes that are there already are left alone.
PROGBL: CALL KNOWN
        RC
        PUSH H                  ; its sectors
        CALL FINDAD             ; DE = place in the window, C = sector
        POP H
        RC
        PUSH D                  ; GUARD needs DE for the sector
        MOV E,C                 ; the sector of the address
        MVI D,0
        CALL GUARD              ; HL = sectors, DE = sector
        POP H                   ; the address in the window
        RC
        XCHG
        LDA R.LEN
        SUI 3                   ; the address takes three bytes
        MOV B,A                 ; bytes
        DCR A                   ; the last byte
        ADD E
        MOV A,D
        ACI 0                   ; A = high byte of the last place
        XRA D                   ; bits that differ from the first one
        ANI 0F0H                ; a sector is 4 KiB: these must be equal
        JNZ NOROOM              ; the last is in another sector
        LXI H,R.DATA+3
..BYTE: LDAX D
        CMP M                   ; there already: nothing to do
        JRZ ..SAME
        MOV C,M                 ; PROGRM takes the byte in C
        ANA M                   ; bits can only fall
        CMP M                   ; equal: no bit would have to change from 0 to 1
        JRNZ ..BACK             ; a bit would have to rise
        PUSH B                  ; PROGRM uses B
        DI                      ; the chip shows no code meanwhile
        CALL PROGRM
        EI
        POP B
        JRNZ ..BACK
..SAME: INX H
        INX D
        DJNZ ..BYTE
        CALL NEWADR             ; HL = after the address
        LDA R.LEN
        SUI 3                   ; the count, as requested
        MOV M,A
        MVI A,4
        JMP MADE
..BACK: CALL BEHIND             ; DE = the address of the byte that failed
        MVI C,E.READ
        STC
        RET

; MADE - sets the reply's length to A; carry clear.
MADE:   STA P.LEN
        ORA A                   ; carry clear
        RET

; FCRC - replies with the CRC-32 of a range within a page.
FCRC:   CALL STRTCH
        RC
        CALL NEWRPL
        XCHG                    ; DE = P.DATA
        LXI H,CHECK
        CALL FLIP               ; complemented
        MVI A,4
        JMP MADE

; VERIFY - compares the CRC-32 of a stretch within a page with the host's.
VERIFY: CALL STRTCH             ; CHECK = CRC of the chip's bytes
        RC
        LXI D,R.DATA+5
        CALL CRCEQU             ; what the host expects
        JRNZ ..BAD
        CALL NEWRPL
        XRA A
        JMP MADE
..BAD:  LHLD CHECK
        MOV A,L
        CMA                     ; CHECK is stored complemented
        MOV E,A
        MOV A,H
        CMA
        MOV D,A
        MVI C,E.VRFY            ; DE = low half of what was found
        STC
        RET

; FREAD - replies with bytes within a page.
FREAD:  LDA R.DATA+3
        DCR A                   ; 0 becomes FFH, which is too many as well
        CPI MAXBLK              ; 0 and more than a frame has room for
        JNC BADARG
        CALL FINDAD             ; DE = place in the window
        RC
        LDA R.DATA+3
        MOV C,A
        MVI B,0
        CALL INPAGE             ; all of it must be in this page
        RC
        PUSH D                  ; NEWADR uses DE
        PUSH B
        CALL NEWADR
        POP B
        XTHL                    ; from the window to after the address
        POP D                   ; DE = after the address, in the reply
        MOV A,C
        ADI 3                   ; the address comes before the bytes
        LDIR                    ; straight into the reply
        JMP MADE

; STRTCH - computes the CRC-32 of the stretch that the request names; CHECK has it complemented.
STRTCH: LBCD R.DATA+3
        MOV A,B
        ORA C                   ; a length of 0
        JRZ BADARG
        CALL FINDAD
        RC
        LBCD R.DATA+3
        CALL INPAGE
        RC
        XCHG                    ; HL = place in the window
        CALL CRCNEW
        ORA A                   ; carry clear: it is done
        RET
BADARG: LXI D,3                 ; what is at offset 3 is out of range
        MVI C,E.ARG
        STC
        RET

; NOROOM - refuses the address.
NOROOM: LDED R.DATA
        MVI C,E.ADDR
        STC
        RET

; INPAGE - carry set and the address refused unless BC bytes from DE on are in the window.
INPAGE: LXI H,-1
        DAD D                   ; DE - 1: the last one is DE + BC - 1
        DAD B                   ; the last one
        JRC NOROOM
        MOV A,H
        CPI WINEND              ; past the window?
        CMC
        RNC
        JMPR NOROOM

; FINDAD - finds the address that the request names, and has the window show it.
;   Exit:     DE = where it is seen, C = its sector; carry set and the address refused when no page
;             has it
FINDAD: LHLD R.DATA             ; the lower 16 bits of the address
        LDA R.DATA+2            ; and the upper ones
        CPI 8                   ; 512 KiB
        JNC NOROOM
        RLC                     ; sixteen sectors each
        RLC
        RLC
        RLC
        MOV C,A
        MOV A,H                 ; bits 15-12 are the lower half of the sector
        RRC                     ; four places: A15-A12 to bits 3-0
        RRC
        RRC
        RRC
        ANI 0FH                 ; and four address bits
        ORA C
        MOV C,A
        CALL MAPSEC
        MOV A,H
        ANI 0FH                 ; the place in the sector
        ORA D
        MOV D,A
        MOV E,L
        RET                     ; ORA has cleared carry

; MAPSEC - has the window show sector C; D = high byte of where it is seen.
MAPSEC: MOV A,C
        RRC                     ; four sectors a page
        RRC
        ANI 1FH                 ; 32 pages of 16 KiB
        OUT WINREG
        MOV A,C
        ANI 3                   ; which of them
        RLC                     ; times 1000H, in the high byte
        RLC
        RLC
        RLC
        ORI WINADR/256
        MOV D,A
        RET

; GUARD - carry set and sector DE refused when it is the boot sector or not below HL, the chip's
; count.
GUARD:  MOV A,D
        ORA E                   ; the boot sector is for BOOT alone
        MVI C,E.PROT
        STC                     ; MVI and STC leave Z
        RZ
        DCX H
        ORA A
        DSBC D                  ; below the count?
        MVI C,E.ADDR            ; carry set if it is refused
        RET

; KNOWN - identifies the chip.
;   Exit:     HL = its sectors, DE = its identity; carry set and the chip refused when it is none we
;             know
KNOWN:  DI                      ; an interrupt would fetch code from the chip
        CALL IDNTFY
        EI
        XCHG                    ; E = manufacturer, D = device
        MOV A,E
        CPI MAKER               ; the supported maker?
        JRNZ ..BAD
        MOV A,D
        SUI DEVICE              ; and one of its chips?
        CPI DEVICS              ; as a number without sign: smaller ones, too
        JRNC ..BAD
        LXI H,16                ; 32 sectors of 4 KiB for the smallest
        INR A                   ; twice as many for each
..MORE: DAD H
        DCR A
        JRNZ ..MORE
        RET                     ; DAD has cleared carry
..BAD:  MVI C,E.CHIP
        STC
        RET

; NEWADR - starts the reply with the address that the request names; HL is after it then.
NEWADR: CALL NEWRPL
        LDED R.DATA
        CALL PUTDE
        LDA R.DATA+2
        MOV M,A
        INX H
        RET

; BEHIND - DE = low half of the chip's address of the byte that the request has at HL.
BEHIND: LXI D,R.DATA+3
        ORA A
        DSBC D                  ; its offset from the first byte
        LDED R.DATA
        DAD D                   ; the requested address, and as far
        XCHG
        RET

; DOBOOT - answers BOOT, then replaces the boot sector by what waits in RAM.
;   Entry:    R.DATA = the request; the new sector at 8000H
;   Exit:     never
;   Errors:   an unknown chip, or another check than the request has: the error reply
;   Clobbers: everything
;   Stack:    24 bytes
;   Cycles:   700000..12000000
DOBOOT: CALL KNOWN
        JC PUTERR
        LXI H,WINADR
        LXI B,1000H
        CALL CRCNEW             ; what waits in RAM
        LXI D,R.DATA
        CALL CRCEQU             ; before anything is erased
        LXI D,0                 ; no detail; LXI and MVI leave Z
        MVI C,E.VRFY
        JNZ PUTERR
        CALL NEWRPL             ; from here on nothing can be refused
        CALL PUTFRM
        CALL UDRAIN             ; after REBOOT nothing sends the rest
        DI
        MVI A,STAY              ; the new monitor starts nothing by itself
        STAI                    ; register I outlives the jump to 0000H
        JMP REBOOT

; CRCNEW - computes the CRC-32 of BC bytes at HL; CHECK has it complemented.
;   Entry:    HL = first byte, BC = count
;   Exit:     HL = after the last
;   Errors:   none
;   Clobbers: AF, BC, DE, and BC, DE, HL of the other set
;   Stack:    6 bytes
;   Cycles:   about 120 a byte
CRCNEW: LXI D,0FFFFH            ; complemented, nothing is all ones
        SDED CHECK
        SDED CHECK+2            ; falls into CRCALL

; CRCALL - takes a stretch of memory into the check.
;   Entry:    HL = first byte, BC = count; CHECK = check so far
;   Exit:     HL = after the last
;   Errors:   none
;   Clobbers: AF, BC, DE, and BC, DE, HL of the other set
;   Stack:    6 bytes
;   Cycles:   about 120 a byte
CRCALL: MOV A,C                 ; first what is over, then whole pages
        PUSH B                  ; B = whole pages
        MOV B,C                 ; the rest of less than a page
        ORA A
        CNZ CRC32
        POP B
..NEXT: MOV A,B                 ; pages to come
        ORA A
        RZ
        PUSH B                  ; CRC32 counts B down
        MVI B,0                 ; 256 bytes
        CALL CRC32
        POP B
        DCR B
        JMPR ..NEXT

; CRCEQU - compares the check with four bytes.
;   Entry:    DE = the bytes; CHECK = the check, complemented
;   Exit:     Z set if they are equal
;   Errors:   none
;   Clobbers: AF, B, DE, HL
;   Stack:    0 bytes
;   Cycles:   60..250
CRCEQU: LXI H,CHECK
        MVI B,4
..NEXT: LDAX D
        CMA                     ; CHECK is stored complemented
        CMP M
        RNZ
        INX H
        INX D
        DJNZ ..NEXT
        RET
        .END
