; The application: the exchange evaluator behind the wire protocol. Entered by a jump to its first
; byte, it sets up everything it needs and uses nothing of the ROM. With HOSTED it runs beside a
; monitor of another make, to which it goes back (hosted.asm).

        .IDENT APP
        .INTERN APP,CHKINT,IDENT,IDLEN,BUILD,NAME
        .EXTERN UINIT,USERV,TABLE,BANNER,DOIDNT,DOHOME,DOXCHG,DOPOSN,DOXHST,DOPNTS,DOTRCE,DOCHKS,DOIDLE
        .EXTERN DOSTUS,STINI,OFFS,SETUP,NOSPCE,CRCINI,C16INI,STACK
        .IFN HOSTED,[
        .EXTERN HOST
        .IFE Z180,[
        .EXTERN UMINE
        ]
        ]
        .INSERT wire.asm
        .INSERT sargon.asm

; Interrupts in mode 2. A 68B50 puts no vector on the bus, so a table of 257 equal bytes makes
; any vector lead to one address, whose two bytes are equal too. The layout keeps both pages free.
        .IFE HOSTED,[
IMPAGE  == 0C0H                 ; the table starts at C000H
        ][
IMPAGE  == 09CH                 ; at 9C00H
        ]

; APP - sets the application up and answers requests for ever.
;   Entry:    a jump; nothing is taken for granted. HOSTED: a call
;   Exit:     only by RESET. HOSTED: also at once, if the board has another serial chip
;             or processor
;   Errors:   see the requests
;   Clobbers: everything
;   Stack:    128 bytes
;   Cycles:   does not end
APP:
        .INSERT start.asm
        CALL STINI
        CALL SETUP
        CALL NOSPCE
        CALL C16INI
        CALL CRCINI
        CALL BANNER
        LXI X,SERVED
        JMP TABLE

SERVED: .BYTE T.CHKS,1+POSLEN,1+7*POSLEN
        .WORD DOCHKS
        .BYTE T.POSN,32,34
        .WORD DOPOSN
        .BYTE T.XCHG,15,15
        .WORD DOXCHG
        .BYTE T.XHST,12,12
        .WORD DOXHST
        .BYTE T.PNTS,34,34
        .WORD DOPNTS
        .BYTE T.TRCE,16,16
        .WORD DOTRCE
        .BYTE T.IDNT,0,0
        .WORD DOIDNT
        .BYTE T.RSET,0,0
        .WORD DOHOME
        .BYTE T.IDLE,0,0
        .WORD DOIDLE
        .BYTE T.STUS,0,0
        .WORD DOSTUS
        .BYTE 0

        .INSERT chkint.asm

; The window: two of the longest frames. With the three that the ring has room for it would hold
; the host off in most runs, and with it the 68B50's transmitter, in the midst of replies.
ASKING  == 500
IDENT:  .BYTE ROLE.A,PROTO
BUILD:  .BYTE 0,0,0,0           ; the builder puts the CRC-32 of the image here
        .WORD ASKING,C.CHKS+C.IDLE+C.STUS,0
        .BYTE C.XCHG+C.POSN+C.XHST+C.PNTS+C.TRCE+ORIGINAL*C.ORIG
NAME:   .ASCII /Sargon exchange evaluator 1/
        .BYTE 0                 ; ends the name for BANNER
IDLEN   == .-IDENT-1
        .END
