; The application: the exchange evaluator behind the wire protocol. Entered by a jump to its first
; byte, it sets up everything it needs and uses nothing of the ROM. With HOSTED it runs beside a
; monitor of another make, to which it goes back (hosted.asm).

        .IDENT APP
        .INTERN APP,CHKINT,IDENT,IDLEN,BUILD,NAME
        .EXTERN UINIT,USERV,TABLE,BANNER,DOIDNT,DOHOME,DOXCHG,DOPOSN,DOXHST,DOPNTS,DOTRCE,DOCHKS,DOIDLE
        .EXTERN DOSTUS,STINI,OFFS,SETUP,NOSPCE,CRCINI,C16INI,STACK
        .IFN HOSTED,[
        .EXTERN HOST,UOTHER
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
IMBYTE  == IMPAGE+1             ; and leads to C1C1H, or 9D9DH
IMTAB   == IMPAGE*256
IMJUMP  == IMBYTE*256+IMBYTE
C.JMP   == JMP                  ; the opcode

; APP - sets the application up and answers requests for ever.
;   Entry:    a jump; nothing is taken for granted. HOSTED: a call
;   Exit:     only by RESET. HOSTED: also at once, if the board has another serial chip
;   Errors:   see the requests
;   Clobbers: everything
;   Stack:    128 bytes
;   Cycles:   does not end
APP:    .IFN HOSTED,[
        CALL UOTHER
        RZ                      ; nothing was changed: return to the stock monitor
        LDAI                    ; P/V = interrupts are on
        JPE ..READ
        LDAI                    ; 0 also if one came just then (Zilog's CPU manual), so once more
..READ: PUSH PSW                ; P/V as bit 2 of F
        POP H                   ; H = register I, L = flags
        ]
        DI
        LXI SP,STACK            ; private stack: the monitor's may be anywhere
        .IFN HOSTED,[
        SHLD HOST
        ]
        LXI H,IMTAB
        LXI D,IMTAB+1
        LXI B,256               ; 257 bytes: vector FFH reads the last two
        MVI M,IMBYTE
        LDIR
        MVI A,C.JMP
        STA IMJUMP              ; JMP USERV where all vectors lead
        LXI H,USERV
        SHLD IMJUMP+1
        MVI A,IMPAGE
        STAI                    ; high byte of the table's address
        IM2
        CALL UINIT              ; before EI: it may interrupt at once
; The chip listens: whatever comes while tables are made must be taken in.
        EI
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

; CHKINT - for what has called the evaluator: counts if interrupts are off or register I is another
; one, and puts both right. Without that the receiver would lose bytes.
;   Entry:    not in the first 256 bytes of memory
;   Exit:     interrupts on
;   Errors:   none
;   Clobbers: nothing
;   Stack:    4 bytes
;   Cycles:   89..204
CHKINT: PUSH PSW
        XRA A
        PUSH PSW                ; 0 below the stack, where an interrupt stores its return address
        POP PSW
        LDAI                    ; P/V: interrupts are on
        JPE ..ON
        DCX SP                  ; P/V is clear, too, if one came just then (Zilog's CPU manual)
        DCX SP
        POP PSW
        ORA A
        JRZ ..BAD               ; none came
        LDAI
..ON:   CPI IMPAGE
        JRNZ ..BAD
        POP PSW
        RET
..BAD:  DI
        PUSH H
        LHLD OFFS
        INX H
        SHLD OFFS
        POP H
        MVI A,IMPAGE
        STAI
        IM2                     ; the mode can't be read
        POP PSW
        EI
        RET

; The window: two of the longest frames. With the three that the ring has room for it would hold
; the host off in most runs, and with it the 68B50's transmitter, in the midst of replies.
ASKING  == 500
IDENT:  .BYTE ROLE.A,PROTO
BUILD:  .BYTE 0,0,0,0           ; the builder puts the CRC-32 of the image here
        .WORD ASKING,C.CHKS+C.IDLE+C.STUS,0
        .BYTE C.XCHG+C.POSN+C.XHST+C.PNTS+C.TRCE+FAULT78*C.1978
NAME:   .ASCII /Sargon exchange evaluator 1/
        .BYTE 0                 ; ends the name for BANNER
IDLEN   == .-IDENT-1
        .END
