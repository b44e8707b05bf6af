        .TITLE  "<LANTERN MONITOR - VERSION 1.4>"
        .SBTTL  /SWITCHES AND DEFINITIONS/
        .PABS
        .PHEX
        .XLINK
;
;       A MONITOR FOR A SMALL BOARD: 2K OF ROM AT 0F000H, TWO SERIAL
;       CHIPS, EIGHT LAMPS.  WRITTEN FOR THE TESTS OF AN ASSEMBLER; IT
;       USES THE LANGUAGE AS PROGRAMS OF 1978 DID.
;
;       COMMANDS, ALL NUMBERS IN HEXADECIMAL:
;         D FROM,TO        SHOW MEMORY           S FROM           CHANGE IT
;         F FROM,TO,BYTE   FILL MEMORY           M FROM,TO,WHERE  MOVE IT
;         V FROM,TO,WITH   COMPARE IT            T FROM,TO        TEST IT
;         G ADDR,STOP      GO, WITH BREAKPOINT   X                REGISTERS
;         I PORT           READ A PORT           O PORT,BYTE      WRITE IT
;         H A,B            SUM AND DIFFERENCE    W FROM,TO        WRITE TAPE
;         L                LOAD TAPE             B                BAUD
;
FALSE   =       0
TRUE    =       #FALSE
TAPE    ==      TRUE            ; COMMANDS L AND W
ECHO    ==      TRUE            ; SEND BACK WHAT IS TYPED
LOUD    ==      FALSE           ; RING THE BELL AT ERRORS
RAMK    =\      'KILOBYTES OF MEMORY'
;
        .OPSYN  .IFN,IF
        .OPSYN  .IFE,IFNOT
        .OPSYN  .BYTE,DB
        .OPSYN  .WORD,DW
        .OPSYN  .BLKB,DS
        .SLIST  .XLIST
        .INSERT PORTS
        .RLIST
;
ROM     ==      0F000H
RAMTOP  ==      RAMK*1024
WORK    ==      RAMTOP-100H     ; THE MONITOR'S OWN PAGE
CR      ==      0DH
LF      ==      0AH
BELL    ==      'G'&1FH
CTRLC   ==      'C'&1FH
RUBOUT  ==      7FH
        .IFG    RAMK-60,[
        .ERROR  /THE MEMORY WOULD REACH INTO THE ROM/
]
        .PAGE
        .SBTTL  /MACROS/
;
; PRINT - SENDS A TEXT THAT STANDS IN LINE; ENDING 0 IS A NEW LINE BEFORE IT
;
        .DEFINE PRINT[TEXT,ENDING(1)]=[
        CALL    MSG.IN
        IFNOT   ENDING,[
        DB      CR,LF   ;; THE NEW LINE
]
        .ASCIS  "TEXT"
]
;
; SKIPIF - JUMPS OVER A STATEMENT.  THE LABEL IS ANOTHER ONE EACH TIME
;
        .DEFINE SKIPIF[CC,STATEMENT,%OVER]=[
        JR'CC   %OVER
        STATEMENT
%OVER:
]
;
; COMMAND - ENTERS A ROUTINE IN THE TABLE AND COMES BACK TO ITS CODE
;
        .DEFINE COMMAND[LETTER,NEEDS(0)]=[
CMD.'LETTER:
..HERE  =       .
        .LOC    CMDTAB+(3*("LETTER"-'A'))
        DB      NEEDS
        DW      CMD.'LETTER
        .LOC    ..HERE
COUNT   =       COUNT+1
]
COUNT   =       0
;
; SAVE, UNSAVE - SEVERAL REGISTERS WITH ONE LINE, BY A MACRO THAT CALLS ITSELF
;
        .DEFINE SAVE[R1,R2,R3,R4]=[
        .IFNB   [R1],[
        PUSH    R1
        SAVE    R2,R3,R4
]
]
        .DEFINE UNSAVE[R1,R2,R3,R4]=[
        .IFB    [R1],[.EXIT]
        POP     R1
        UNSAVE  R2,R3,R4
]
;
; POWERS - 2 TO THE N-1 DOWN TO 1, EACH A BYTE
;
        .DEFINE POWERS[N]=[
        .IFG    N,[
        DB      1<(N-1)
        POWERS  \N-1
]
]
;
; ITEM - A VALUE AS A BYTE, A WORD OR A TEXT
;
        .DEFINE ITEM[KIND,VALUE]=[
        .IFIDN  [KIND][WORD], [
        DW      VALUE
][
        .IFIDN  /KIND/ "TEXT", [
        .ASCIZ  "VALUE"
] [
        .IFDIF  [KIND] [BYTE],[
        .ERROR  /ITEM: KIND IS NO KIND/
]
        DB      VALUE
]
]
]
        .MASYN  ITEM,ENTRY1
        .PAGE
        .SBTTL  /RESET AND FIXED ENTRIES/
        .LOC    ROM
COLD:   JMPR    START
        .RAD40  LANTRN          ; PROGRAMS LOOK HERE WHICH ROM THIS IS
        DB      14H             ; AND OF WHICH VERSION
        .LOC    ROM+8
CI::    JMP     CONIN
CO::    JMP     CONOUT
RI::    JMP     TAPIN
WO::    JMP     TAPOUT
CSTS::  JMP     STATUS
CMDTAB: DS      3*('Z'-'A'+1)   ; COMMANDS ENTER THEMSELVES FURTHER BELOW
;
START:  LXI     SP,STACK
        MVI     A,JMP           ; BREAKPOINTS COME BY RST 7
        STA     7*8
        LXI     H,BREAK
        SHLD    7*8+1
        LXI     H,CHIPS
        MVI     B,CHIPS$
..NEXT: MOV     C,M             ; PORT
        INX     H
        MOV     A,M             ; WHAT IT GETS
        INX     H
        OUTP    A
        DJNZ    ..NEXT
        .IFE    #LOUD,[
        MVI     A,BELL
        OUT     CON$D
]
; EITHER THE BELL OR THE LAMPS

[
        XRA     A
        OUT     LAMPS
]
        LXI     H,WORK          ; CLEAR THE MONITOR'S PAGE
..CLR:  MVI     M,0
        INR     L
        JRNZ    ..CLR
        PRINT   (LANTERN 1.4, ),0
        LXI     H,RAMK
        CALL    DECIMAL
        PRINT   [K]
WARM:   LXI     SP,STACK
        LXI     H,WARM
        PUSH    H               ; WHERE COMMANDS RETURN TO
        CALL    CRLF
        MVI     A,'>'
        CALL    CONOUT
        CALL    GETCH
        SUI     'A'
        JRC     WHAT
        CPI     'Z'-'A'+1
        JRNC    WHAT
        MOV     L,A
        ADD     A
        ADD     L               ; THREE BYTES EACH
        MOV     L,A
        MVI     H,0
        LXI     D,CMDTAB
        DAD     D
        MOV     B,M             ; SO MANY NUMBERS ARE WANTED
        INX     H
        MOV     E,M
        INX     H
        MOV     D,M
        MOV     A,D
        ORA     E
        JRZ     WHAT
        PUSH    D
        MOV     A,B
        ORA     A
        RZ                      ; NONE: TO THE ROUTINE AT ONCE
        LXI     X,ARG1
..ARG:  PUSH    B
        CALL    GETHEX
        MOV     0(X),L
        MOV     1(X),H
        INX     X
        INX     X
        POP     B
        DJNZ    ..ARG
        LHLD    ARG1
        LDED    ARG2
        LBCD    ARG3
        RET                     ; TO THE ROUTINE
WHAT:   PRINT   ?
        .IFN    LOUD,MVI A,BELL
        .IFN    LOUD,CALL CONOUT
        JMPR    WARM
;
; WHAT THE CHIPS GET AFTER RESET: PORT, VALUE
;
CHIPS:  DB      CON$S,RESET,CON$S,MODE8N
        IF      TAPE,[
        DB      TAP$S,RESET
        DB      TAP$S,MODE8N!40H
]
CHIPS$  ==      (.-CHIPS)/2
        .PAGE
        .SBTTL  /THE CONSOLE/
;
; STATUS - 0FFH AND NZ WHEN A CHARACTER WAITS
;
STATUS: IN      CON$S
        ANI     RX.RDY
        RZ
        ORI     #0&0FFH
        RET
;
; CONIN - WAITS FOR A CHARACTER, WITHOUT PARITY
;
CONIN:  CALL    STATUS
        JRZ     .-3
        IN      CON$D
        ANI     7FH
        RET
;
; CONOUT - SENDS A.  SAVES ALL
;
CONOUT: PUSH    PSW
..WAIT: IN      CON$S
        BIT     %TDRE,A
        JRZ     ..WAIT
        POP     PSW
        OUT     CON$D
        RET
;
; GETCH - A CHARACTER IN CAPITALS, ECHOED; CONTROL-C GIVES UP
;
GETCH:  CALL    CONIN
        CPI     CTRLC
        JZ      WARM
        CPI     'A'+20H
        JRC     ..CAP
        CPI     'Z'+20H+1
        JRNC    ..CAP
        SUI     ' '
..CAP:  IF      ECHO,[
        CALL    CONOUT
]
        RET
;
; CRLF, BLANK - WHAT THEY SAY.  SAVE ALL BUT A
;
CRLF:   MVI     A,CR
        CALL    CONOUT
        MVI     A,LF
        JMPR    CONOUT
BLANK:  MVI     A,' '
        JMPR    CONOUT
;
; MSG.IN - SENDS THE TEXT BEHIND ITS CALL, WHOSE LAST BYTE HAS BIT 7 SET
;
MSG.IN: XTHL
..CH:   MOV     A,M
        INX     H
        CALL    CONOUT
        ORA     A
        JP      ..CH
        XTHL
        RET
        .PAGE
        .SBTTL  /NUMBERS/
;
; GETHEX - HL = THE NUMBER TYPED; ANY OTHER CHARACTER ENDS IT, A = THAT
;
GETHEX: LXI     H,0
..DIGIT: CALL   GETCH
        CALL    NIBBLE
        RC
        DAD     H
        DAD     H
        DAD     H
        DAD     H
        ADD     L
        MOV     L,A
        JMPR    ..DIGIT
;
; NIBBLE - THE VALUE OF THE DIGIT IN A, OR A AND CARRY IF IT IS NONE
;
NIBBLE: CPI     '0'
        RC
        CPI     '9'+1
        JRC     ..NUM
        CPI     'A'
        RC
        CPI     'F'+1
        CMC
        RC
        SUI     'A'-'9'-1
..NUM:  SUI     '0'
        ORA     A
        RET
;
; PUTADR, PUTHEX, PUTNIB - HL, A, AND THE LOW HALF OF A IN HEXADECIMAL
;
PUTADR: MOV     A,H
        CALL    PUTHEX
        MOV     A,L
PUTHEX: PUSH    PSW
        RRC
        RRC
        RRC
        RRC
        CALL    PUTNIB
        POP     PSW
PUTNIB: ANI     0FH
        ADI     90H
        DAA
        ACI     40H
        DAA
        JMP     CONOUT
;
; DECIMAL - HL IN DECIMAL, WITHOUT LEADING ZEROS
;
DECIMAL: LXI    D,TENS
        MVI     B,0             ; NO DIGIT YET
..NEXT: LDAX    D
        MOV     C,A
        INX     D
        PUSH    B
        XCHG
        MOV     B,M
        INX     H
        XCHG
        MVI     A,'0'-1
..SUB:  INR     A
        ORA     A
        DSBC    B
        JRNC    ..SUB
        DAD     B
        POP     B
        CPI     '0'
        JRNZ    ..SHOW
        BIT     0,B
        JRZ     ..SKIP
..SHOW: MVI     B,1
        CALL    CONOUT
..SKIP: MOV     A,C             ; THE LAST ONE IS 1
        DCR     A
        JRNZ    ..NEXT
        RET
;
; THE POWERS OF TEN, BY A COUNTER
;
J       =       10000
        .DEFINE TEN=[
        DW      J
J       =       J/10
]
TENS:   TEN
        TEN
        TEN
        TEN
        TEN
;
; BETWEEN - CARRY WHEN HL IS PAST DE, ELSE THE NEXT HL
;
BETWEEN: MOV    A,E
        SUB     L
        MOV     A,D
        SBB     H
        INX     H
        RET
        .PAGE
        .SBTTL  /COMMANDS THAT SHOW AND CHANGE MEMORY/
;
; D FROM,TO - SIXTEEN BYTES A LINE, AND WHAT THEY ARE AS CHARACTERS
;
        COMMAND D,2
        MVI     A,-16&0FFH
        ANA     L
        MOV     L,A             ; FROM THE BEGINNING OF A LINE
..LINE: CALL    CRLF
        CALL    PUTADR
        PUSH    H
        MVI     B,16
..BYTE: CALL    BLANK
        MOV     A,M
        CALL    PUTHEX
        INX     H
        DJNZ    ..BYTE
        CALL    BLANK
        POP     H
        MVI     B,16
CHAR:   MOV     A,M             ; THE SKIPS HAVE LABELS: ..CHAR WOULD BE FORGOTTEN
        ANI     7FH
        CPI     ' '
        SKIPIF  NC,(MVI A,'.')
        CPI     RUBOUT
        SKIPIF  NZ,(MVI A,'.')
        CALL    CONOUT
        CALL    BETWEEN
        RC
        DJNZ    CHAR
        CALL    STATUS
        RNZ                     ; A KEY STOPS IT
        JMPR    CMD.D
;
; S FROM - EACH BYTE; A NUMBER CHANGES IT, A BLANK LEAVES IT, A PERIOD ENDS
;
        COMMAND S,1
        CALL    CRLF
        CALL    PUTADR
        CALL    BLANK
        MOV     A,M
        CALL    PUTHEX
        MVI     A,'-'
        CALL    CONOUT
        PUSH    H
        CALL    GETHEX
        MOV     B,A
        MOV     C,L
        POP     H
        CPI     '.'
        RZ
        CPI     ' '
        JRZ     ..KEEP
        MOV     M,C
..KEEP: INX     H
        JMPR    CMD.S
;
; F FROM,TO,BYTE
;
        COMMAND F,3
        MOV     M,C
        CALL    BETWEEN
        RC
        JMPR    CMD.F
;
; M FROM,TO,WHERE - BACKWARDS WHEN IT WOULD RUN INTO ITSELF
;
        COMMAND M,3
        PUSH    B
        XCHG                    ; HL = TO
        ORA     A
        DSBC    D               ; LENGTH LESS 1
        MOV     B,H
        MOV     C,L
        INX     B
        XCHG                    ; HL = FROM
        POP     D               ; DE = WHERE
        MOV     A,L
        SUB     E
        MOV     A,H
        SBB     D
        JRC     ..DOWN
        LDIR
        RET
..DOWN: DAD     B
        DCX     H
        XCHG
        DAD     B
        DCX     H
        XCHG
        LDDR
        RET
;
; V FROM,TO,WITH - SHOWS ADDRESS AND BOTH BYTES WHERE THEY DIFFER
;
        COMMAND V,3
..LOOP: LDAX    B
        CMP     M
        CNZ     DIFFER
        INX     B
        CALL    BETWEEN
        RC
        JMPR    ..LOOP
DIFFER: SAVE    PSW,B,D
        PUSH    PSW
        CALL    CRLF
        CALL    PUTADR
        CALL    BLANK
        MOV     A,M
        CALL    PUTHEX
        CALL    BLANK
        POP     PSW
        CALL    PUTHEX
        UNSAVE  D,B,PSW
        RET
;
; T FROM,TO - EACH BIT OF EACH BYTE; WHAT FAILS IS SHOWN AND COUNTED
;
        COMMAND T,2
        LXI     Y,FAILS
        MVI     0(Y),0
..BYTE: MOV     C,M             ; KEPT FOR LATER
        LXI     X,BITS
..BIT:  MOV     A,0(X)
        MOV     M,A
        XRA     M
        JRNZ    ..BAD
        MOV     A,0(X)
        CMA
        MOV     M,A
        XRA     M
        JRNZ    ..BAD
        INX     X
        MOV     A,0(X)
        INR     A               ; 0FFH IS BEHIND THE LAST ONE
        JRNZ    ..BIT
..NEXT: MOV     M,C
        CALL    BETWEEN
        JRNC    ..BYTE
        MOV     A,BAD.LO(Y)
        ORA     A
        RZ
        CALL    PUTHEX
        PRINT   ( BAD)
        RET
..BAD:  INR     BAD.LO(Y)
        CALL    DIFFER
        JMPR    ..NEXT
BITS:   POWERS  8
        DB      -1
BAD.LO  ==      FAILS-FAILS     ; THE FIRST BYTE OF THE COUNT
        .PAGE
        .SBTTL  /COMMANDS THAT RUN PROGRAMS/
;
; G ADDR,STOP - RST 7 IS PUT AT STOP, AND COMES TO BREAK
;
        COMMAND G,2
        XCHG
        SHLD    STOP
        XCHG
        LDAX    D
        STA     KEPT
        MVI     A,RST           ; AN OPERATION IS A NUMBER: RST 0
        ORI     7<3
        STAX    D
        SHLD    USR.PC
        LIXD    USR.IX
        LIYD    USR.IY
        LSPD    USR.SP
        PUSH    H
        LHLD    USR.AF
        PUSH    H
        LHLD    USR.HL
        LDED    USR.DE
        LBCD    USR.BC
        POP     PSW
        RET
;
; BREAK - EVERYTHING IS KEPT, THE BYTE IS PUT BACK
;
BREAK:  SHLD    USR.HL
        POP     H
        DCX     H               ; BACK OVER RST 7
        SHLD    USR.PC
        PUSH    PSW
        POP     H
        SHLD    USR.AF
        SSPD    USR.SP
        SDED    USR.DE
        SBCD    USR.BC
        SIXD    USR.IX
        SIYD    USR.IY
        LXI     SP,STACK
        LHLD    STOP
        LDA     KEPT
        MOV     M,A
        CALL    CMD.X
        JMP     WARM
;
; X - THE REGISTERS, AS THE TABLE HAS THEM
;
        COMMAND X
        CALL    CRLF
        LXI     D,REGS
..REG:  LDAX    D
        ORA     A
        RM                      ; THE END
        MOV     L,A
        MVI     H,WORK > 8
        INX     D
        CALL    NAME
        CALL    NAME
        MVI     A,'='
        CALL    CONOUT
        MOV     A,M
        INX     H
        MOV     H,M
        MOV     L,A
        CALL    PUTADR
        CALL    BLANK
        JMPR    ..REG
NAME:   LDAX    D
        INX     D
        JMP     CONOUT
;
; REG - WHERE A REGISTER IS KEPT, AND ITS NAME
;
        .DEFINE REG[R]=[
        DB      USR.'R-WORK
        .ASCII  "R"
]
REGS:   REG     PC
        REG     SP
        REG     AF
        REG     BC
        REG     DE
        REG     HL
        REG     IX
        REG     IY
        DB      -1
;
; I PORT, AND O PORT,BYTE
;
        COMMAND I,1
        CALL    BLANK
        LDA     ARG1
        MOV     C,A
        INP     A
        JMP     PUTHEX
        COMMAND O,2
        MOV     C,L
        OUTP    E
        RET
;
; H A,B - SUM AND DIFFERENCE
;
        COMMAND H,2
        PUSH    H
        DAD     D
        CALL    BLANK
        CALL    PUTADR
        POP     H
        ORA     A
        DSBC    D
        CALL    BLANK
        JMP     PUTADR
;
; B - ASKS THE SWITCHES HOW FAST THE CONSOLE IS, AND SAYS SO
;
        COMMAND B
        IN      LAMPS
        ANI     ^B111
        MOV     E,A
        MVI     D,0
        LXI     H,SPEEDS
        DAD     D
        DAD     D
        MOV     A,M
        INX     H
        MOV     H,M
        MOV     L,A
        PRINT   (BAUD ),0
        JMP     DECIMAL
        .DEFINE FASTER=[
        DW      ..RATE
..RATE  =       ..RATE<1
]
SPEEDS  ==      .
..RATE  =       75
        FASTER
        FASTER
        FASTER
        FASTER
        FASTER
        FASTER
        FASTER
        FASTER
        .PAGE
        .SBTTL  /THE TAPE/
;
; A RECORD: COLON, COUNT, ADDRESS, BYTES, AND WHAT MAKES THEIR SUM 0; IN
; BINARY.  A COUNT OF 0 ENDS THE TAPE, ITS ADDRESS IS WHERE TO START.
;
        .IFE    #TAPE,[
TAPIN:  IN      TAP$S
        RRC
        JRNC    TAPIN
        IN      TAP$D
        RET
TAPOUT: PUSH    PSW
        .IFG    %TDRE,[
        IN      TAP$S
        ANI     TX.RDY
        JRZ     .-4
][
        IN      TAP$S
        RRC
        JRNC    .-3
]
        POP     PSW
        OUT     TAP$D
        RET
        .IFDEF  ECHO,[
        .IFN    ECHO,[
TAPSUM: OUT     LAMPS           ; THE LAMPS SHOW WHAT PASSES
][
TAPSUM: NOP
        NOP
]
        ADD     D
        MOV     D,A
        RET
]
;
; W FROM,TO
;
        COMMAND W,2
        MVI     B,50            ; A LEADER
        XRA     A
..LEAD: CALL    TAPOUT
        DJNZ    ..LEAD
..REC:  PUSH    D
        XCHG
        ORA     A
        DSBC    D
        XCHG
        POP     B
        JRC     ..END
        PUSH    B
        INX     D
        MOV     A,D
        ORA     A
        MVI     B,RECLEN
        JRNZ    ..FULL
        MOV     A,E
        CPI     RECLEN
        JRNC    ..FULL
        MOV     B,E
..FULL: CALL    HEADER
..BYTE: MOV     A,M
        CALL    PUTSUM
        INX     H
        DJNZ    ..BYTE
        XRA     A
        SUB     D
        CALL    TAPOUT
        POP     D
        JMPR    ..REC
..END:  MVI     B,0
        JMPR    HEADER
HEADER: MVI     A,':'
        CALL    TAPOUT
        MVI     D,0
        MOV     A,B
        CALL    PUTSUM
        MOV     A,H
        CALL    PUTSUM
        MOV     A,L
PUTSUM: CALL    TAPOUT
        JMPR    TAPSUM
RECLEN  ==      ^H20
;
; L - STOPS AND SHOWS WHERE AT THE FIRST RECORD WHOSE SUM IS WRONG
;
        COMMAND L
..COLON: CALL   TAPIN
        CPI     ':'
        JRNZ    ..COLON
        MVI     D,0
        CALL    GETSUM
        MOV     B,A
        CALL    GETSUM
        MOV     H,A
        CALL    GETSUM
        MOV     L,A
        INR     B
        DCR     B
        JRZ     ..END
..BYTE: CALL    GETSUM
        MOV     M,A
        INX     H
        DJNZ    ..BYTE
        CALL    GETSUM
        JRZ     ..COLON
        PRINT   (SUM AT )
        JMP     PUTADR
..END:  SHLD    USR.PC
        RET
GETSUM: CALL    TAPIN
        MOV     C,A
        CALL    TAPSUM
        MOV     A,C
        RET                     ; Z WHEN THE SUM IS 0 NOW
][
TAPIN:
TAPOUT: RET
]
        .PAGE
        .SBTTL  /TABLES/
;
; WHAT THE LAMPS SHOW FOR EACH HEXADECIMAL DIGIT
;
        .RADIX  16
LAMPS7: DB      3F,06,5B,4F,66,6D,7D,07
        DB      7F,6F,77,7C,39,5E,79,71
MASKS:  DB      80,0C0,0E0,0F0,0F8,0FC,0FE,0FF
        .WORD   0ABCD,10,1.,10D,10.     ; WHERE D IS A DIGIT AND A PERIOD IS NOT
        .RADIX  8
        DB      377,10,10.,0FFH
        .RADIX  2
        DB      11111111,10,10.
        .RADIX  10
;
; EVERY THIRD ADDRESS, AND SINGLE BITS
;
        .DEFINE BIT1[N]=[DB ^B'N]
        .DEFINE EVERY3=[
J       =       J+3
        DW      MASKS+J
        DB      J@8,J*2/3
]
J       =       0
        EVERY3
        EVERY3
        EVERY3
        BIT1    1
        BIT1    1010
;
; ITEMS OF THREE KINDS, UNDER TWO NAMES
;
ITEMS:  ITEM    WORD,ITEMS-TENS
        ITEM    BYTE,("A"!80H)
        ENTRY1  TEXT,(IT'S, AS THEY SAY)
SIZE    ==      .-ITEMS
        .SYSYN  SIZE,LENGTH
        .SYN    A,ACC
        MOV     ACC,M
        CPI     LENGTH
SIGN.ON: .ASCII [CR][LF]"LANTERN"[' ']/MONITOR/ [CR] [LF] [0]
        .ASCIZ  'A "QUOTE"'[BELL]
        .ASCIS  "END"[LF]
        .REMARK "
WHAT STANDS HERE IS NO CODE, THOUGH IT LOOKS LIKE IT:
        HLT
"
;
; WORDS AND OPERATIONS AS NUMBERS
;
        DW      'AB','ABC','''',"""",LDIR,JMP,-1,#0,1<2+1,10+3^1,2*7@4
        .DEFINE VAL=[5+3]
        DW      VAL*2                   ; 5+3*2, NOT 8*2
        DB      WORK > 8,ROM>8&0F0H,%TDRE<4,-1,+1,J-9
        LXI     SP,..AHEAD-4
        LXI     B,..AHEAD-ITEMS
        ORI     WORK > 8
        JMPR    ..AHEAD+1
..AHEAD: MVI    A,JRZ
        .PAGE
        .SBTTL  /END OF THE ROM, AND THE MONITOR'S PAGE/
        .LOC    ROM+7F0H
        DW      COLD,WARM
        DB      COUNT                   ; SO MANY COMMANDS
        .RAD40  A,%.$
        .LOC    WORK
ARG1:   DS      2
ARG2:   DS      2
ARG3:   DS      2
STOP:   .BLKW   1
KEPT:   DS      1
FAILS:  DS      1
        .LOC    WORK+20H
USR.PC: DS      2
USR.SP: DS      2
USR.AF: DS      2
USR.BC: DS      2
USR.DE: DS      2
USR.HL: DS      2
USR.IX: DS      2
USR.IY: DS      2
STACK   ==      WORK+100H
        .LOC    CMDTAB+(3*('A'-'A'))    ; A DOES WHAT S DOES
        DB      1
        DW      CMD.S
        .RELOC
        .IF1    ,[
        .PRNTX  "LANTERN MONITOR"
]
        .IF2    ,[
        .IFG    .-STACK,[
        .ERROR  /THE PAGE IS TOO SMALL/
]
]
        .END    COLD
