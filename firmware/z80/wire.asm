; The wire protocol's constants (docs/PROTOCOL.md); inserted, it makes no code. The builder's
; tests compare each with its counterpart in firmware/firmware-wire/src.

PROTO   == 1            ; version

; Requests; a reply has bit 7 set as well.
T.IDNT  == 01H
T.RSET  == 02H
T.IDLE  == 03H
T.STUS  == 04H
T.WRIT  == 10H
T.CRC   == 11H
T.READ  == 12H
T.RUN   == 13H
T.CHIP  == 14H
T.ERAS  == 15H
T.PROG  == 16H
T.FCRC  == 17H
T.VRFY  == 18H
T.FRED  == 19H
T.BOOT  == 1AH
T.XCHG  == 20H
T.POSN  == 21H
T.PEND  == 22H          ; only as a reply: the end of a position
T.XHST  == 23H
T.PNTS  == 24H
T.TRCE  == 25H
T.CHKS  == 26H
T.CALL  == 27H
T.CNT   == 28H
T.STAT  == 30H
T.SET   == 31H
T.GO    == 32H
T.REPL  == 80H
T.STOP  == 0FDH         ; the debug kernel has stopped a program
T.PLCE  == 0FEH         ; program counter report, requested by zeros
T.ERR   == 0FFH

; Codes of the error reply.
E.TYPE  == 01H
E.LEN   == 02H
E.ADDR  == 03H
E.READ  == 04H
E.ARG   == 05H
E.DMGD  == 06H
E.OVRN  == 07H
E.CHIP  == 08H
E.PROT  == 09H
E.TIME  == 0AH
E.VRFY  == 0BH

; Sizes.
MAXPAY  == 240          ; payload
MAXENC  == 246          ; encoded frame without its delimiters
MAXBLK  == 236          ; data of WRITE and READ
BODY    == 5            ; LEN, SEQ, TYPE and CRC
ZRUN    == 8            ; zeros in a row that request T.PLCE
RECORD  == 18           ; a square of POSITION
RECMAX  == 13           ; squares in a frame
POSLEN  == 34           ; a position of CHECKS: its squares and the last move
SPCNUM  == 3            ; spaces of EXHAUST
BINNUM  == 11           ; residues that it counts: 0 to 10

; Calls of any routine.
PAIRS   == 10           ; words of registers: AF, BC, DE, HL, IX, IY, AF', BC', DE', HL'
B.MEM   == 7            ; of the high byte of a mask of registers: memory, too; of a length: its CRC
CNTMAX  == 4            ; bytes that COUNT counts through
S.SP    == 01H          ; SP was another one when a routine returned
S.OFF   == 02H          ; with interrupts off, or another register I
S.OVFL  == 04H          ; it has used up its stack
S.LOST  == 08H          ; bytes from the host were lost meanwhile
S.INT   == 10H          ; interrupts came meanwhile, which use the stack, too
S.END   == 80H          ; no result: an error code, which ends the reply

; Flash.
KEPT    == 1            ; sectors at the start that only BOOT replaces
SLOT    == 1000H        ; the header of a program in flash
SLOTLN  == 16           ; its bytes

; Register I when RESET jumps to 0000H; a reset by hardware leaves 0 there.
STAY    == 0FFH

; Identity.
ROLE.M  == 4DH
ROLE.A  == 41H
ROLE.K  == 4BH
ROLE.C  == 43H
C.RAM   == 01H
C.FLSH  == 02H
C.XCHG  == 04H
C.POSN  == 08H
C.ORIG  == 10H
C.XHST  == 20H
C.PNTS  == 40H
C.TRCE  == 80H
; The application's extended capabilities, in place of the monitor's range for WRITE.
C.CHKS  == 01H
C.IDLE  == 02H
C.STUS  == 04H
