; The caller: calls any routine for a host. It is entered by a jump to its first byte, or, with
; HOSTED, by a call from a monitor of another make; it uses nothing of the ROM.

        .IDENT CALLER
        .INTERN APP,CHKINT,IDENT,IDLEN,BUILD,NAME,PUTDE
        .EXTERN UINIT,USERV,TABLE,BANNER,DOIDNT,DOHOME,DOCALL,DOCNT,DOSTUS,CLINI,BATINI,STINI
        .EXTERN OFFS,CRCINI,CRC16,C16INI,PUTFRM,PUTERR,NEWRPL,R.LEN,R.DATA,P.LEN,STACK
        .EXTERN LOADLO,LOADHI
        .IFN HOSTED,[
        .EXTERN HOST
        .IFE Z180,[
        .EXTERN UMINE
        ]
        ]
        .IFN Z180,[
        .EXTERN WATCH
        ]
        .INSERT wire.asm

; Interrupts in mode 2, as in app.asm; the layout keeps both pages free.
        .IFE HOSTED,[
IMPAGE  == 0EAH                 ; the table at EA00H
        ][
IMPAGE  == 0C0H                 ; at C000H
        ]

; APP - sets the caller up and answers requests for ever.
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
        CALL CLINI
        CALL BATINI
        .IFN Z180,[
        LXI H,WATCH             ; passes other interrupts on to USERV
        SHLD IMJUMP+1
        ]
        CALL C16INI
        CALL CRCINI
        CALL BANNER
        LXI X,SERVED
        JMP TABLE

SERVED: .BYTE T.CALL,1,MAXPAY
        .WORD DOCALL
        .BYTE T.CNT,22,61
        .WORD DOCNT
        .BYTE T.WRIT,3,2+MAXBLK
        .WORD DOWRIT
        .BYTE T.CRC,4,4
        .WORD DOCRC
        .BYTE T.READ,3,3
        .WORD DOREAD
        .BYTE T.IDNT,0,0
        .WORD DOIDNT
        .BYTE T.STUS,0,0
        .WORD DOSTUS
        .BYTE T.RSET,0,0
        .WORD DOHOME
        .BYTE 0

        .INSERT chkint.asm

        .INSERT memory.asm

; PUTDE - stores a word, low byte first.
;   Entry:    HL = where, DE = the word
;   Exit:     HL = after it
;   Errors:   none
;   Clobbers: nothing else
;   Stack:    0 bytes
;   Cycles:   36
PUTDE:  MOV M,E
        INX H
        MOV M,D
        INX H
        RET

ASKING  == 500                  ; the window: two of the longest frames
IDENT:  .BYTE ROLE.C,PROTO
BUILD:  .BYTE 0,0,0,0           ; the builder puts the CRC-32 of the image here
        .WORD ASKING,LOADLO,LOADHI
        .BYTE C.RAM
NAME:   .ASCII /Z80 routine caller 1/
        .BYTE 0                 ; ends the name for BANNER
IDLEN   == .-IDENT-1
        .END
