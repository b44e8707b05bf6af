; What monitor and application answer alike, and the text for a person at a terminal.

        .IDENT COMMON
        .INTERN BANNER,DOIDNT,DOHOME,TABLE,PUTS
        .EXTERN GETFRM,PUTFRM,PUTERR,PUTC,UDRAIN,NEWRPL
        .EXTERN R.LEN,R.TYPE,P.LEN,P.DATA,IDENT,IDLEN,BUILD,NAME
        .IFN HOSTED,[
        .EXTERN GOHOME
        ]
        .INSERT wire.asm

; TABLE - answers requests by a table, for ever.
;   Entry:    IX = the table: an entry is type (1), shortest and longest payload (2), routine (2);
;             a type of 0 ends it. A routine finds the request in R.LEN and R.DATA
;   Exit:     never
;   Errors:   an unknown type or a wrong length is answered by the error reply
;   Clobbers: everything
;   Stack:    26 bytes and what the routines take
;   Cycles:   does not end
TABLE:  PUSH X                  ; the routines may use IX
        CALL GETFRM
        CALL ANSWER
        POP X
        JMPR TABLE

; ANSWER - finds the routine for the request and runs it.
ANSWER: LXI D,5                 ; bytes of an entry
        LDA R.TYPE
        MOV B,A
..NEXT: MOV A,0(X)
        ORA A                   ; 0 ends the table
        MVI C,E.TYPE
        LXI H,0
        JRZ ..SAY
        CMP B                   ; the type of the request?
        JRZ ..HERE
        DADX D                  ; the next entry
        JMPR ..NEXT
..HERE: LDA R.LEN
        CMP 1(X)                ; too short?
        JRC ..LEN
        CMP 2(X)                ; as long as it may be
        JRZ ..RUN
        JRNC ..LEN
..RUN:  MOV L,3(X)              ; the routine
        MOV H,4(X)
        PCHL                    ; returns to TABLE, as ANSWER was called
..LEN:  MVI C,E.LEN
        MOV L,A                 ; the length is the detail
..SAY:  XCHG                    ; DE = detail
        JMP PUTERR

; DOIDNT - answers IDENT.
;   Entry:    IDENT = the identity as it is sent, IDLEN bytes
;   Exit:     the reply is on its way
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    18 bytes
;   Cycles:   5000..60000
DOIDNT: CALL NEWRPL
        XCHG                    ; DE = P.DATA
        LXI H,IDENT
        LXI B,IDLEN
        MOV A,C                 ; the length of the identity
        STA P.LEN
        LDIR
        JMP PUTFRM

; DOHOME - answers RESET, then jumps to 0000H with the code in register I that says to stay; beside
; another monitor, as hosted.asm does.
;   Entry:    nothing
;   Exit:     never
;   Errors:   none
;   Clobbers: everything
;   Stack:    20 bytes
;   Cycles:   165000
DOHOME: CALL NEWRPL
        CALL PUTFRM
        CALL UDRAIN             ; the reply must have left
        .IFE HOSTED,[
        DI
        MVI A,STAY
        STAI                    ; the monitor looks at register I
        JMP 0
        ][
        JMP GOHOME
        ]

; BANNER - sends the name and build of this program.
;   Entry:    interrupts on
;   Exit:     A = 0
;   Errors:   none
;   Clobbers: AF, BC, HL
;   Stack:    16 bytes
;   Cycles:   10000..40000
BANNER: LXI H,NEWLIN
        CALL PUTS
        LXI H,NAME
        CALL PUTS
        LXI H,BUILDS            ; with the words between name and number
        CALL PUTS
        LXI H,BUILD+3           ; the highest byte is the last
        MVI B,4
..HEX:  MOV A,M
        DCX H
        PUSH PSW
        RRC                     ; the high half first
        RRC
        RRC
        RRC
        CALL PUTHEX
        POP PSW                 ; then the low one
        CALL PUTHEX
        DJNZ ..HEX
        LXI H,NEWLIN            ; falls into PUTS

; PUTS - sends the characters up to a zero.
;   Entry:    HL = the first; interrupts on
;   Exit:     A = 0, HL at the zero
;   Errors:   none
;   Clobbers: F
;   Stack:    14 bytes
;   Cycles:   300 a character if the ring has room
PUTS:   MOV A,M
        ORA A
        RZ
        CALL PUTC
        INX H
        JMPR PUTS

; PUTHEX - sends the low half of A as a digit.
PUTHEX: ANI 0FH
        ADI '0'
        CPI '9'+1
        JRC ..SEND              ; a digit
        ADI 'A'-'9'-1           ; a letter
..SEND: JMP PUTC

NEWLIN: .BYTE 0DH,0AH,0
BUILDS: .ASCIZ /, build /
        .END
