; The debug kernel: stops a program in RAM at RST 6, reports its registers, reads and changes them
; and memory, and resumes it (docs/KERNEL.md).
;
; It runs where the monitor's RAM is while programs run, with interrupts off and a line of its own
; (polled.asm), so that any code can be stopped, interrupt handlers too.

        .IDENT DEBUG
        .INTERN DEBUG,HELD,IDENT,BUILD,REGS,K.PC,K.GO
        .EXTERN POLL,QUIET,GETK,PUTK,R.LEN,R.SEQ,R.TYPE,R.DATA,P.DATA
        .EXTERN C16INI,STACK,KLOAD,KVECT
        .INSERT wire.asm

C.JMP   == JMP                  ; opcodes
C.RST   == 0F7H                 ; RST 6
C.EI    == EI
KLEN    == 400H                 ; bytes that the layout reserves for the code
BPMAX   == 64                   ; most breakpoints
IFF2    == 4                    ; bit of F that LDAI sets
M1.IN   == 22                   ; instruction fetches from RST 6 to LDAR
M1.OFF  == 2                    ; and with interrupts off
M1.OUT  == 11                   ; those from STAR to the program

        .LOC .DATA.
REGS:                           ; the state as it is sent
K.NUM:  .BLKB 1                 ; number of stops, modulo 256
K.WHY:  .BLKB 1                 ; 0: the kernel has just started; 1: RST 6
SETS:                           ; what SET changes
K.SP:   .BLKW 1
K.PC:   .BLKW 1
K.AF:   .BLKW 1
K.BC:   .BLKW 1
K.DE:   .BLKW 1
K.HL:   .BLKW 1
K.IX:   .BLKW 1
K.IY:   .BLKW 1
K.AF2:  .BLKW 1
K.BC2:  .BLKW 1
K.DE2:  .BLKW 1
K.HL2:  .BLKW 1
K.I:    .BLKB 1
K.R:    .BLKB 1
K.IFF:  .BLKB 1                 ; not 0: interrupts are on
REGLEN  == .-REGS
SETLEN  == .-SETS
K.FI:   .BLKW 1                 ; F with IFF2, and I
PLACES: .BLKW 1                 ; end of the breakpoint table in use
HOLDS:  .BLKB 3*BPMAX           ; breakpoint table: address, original byte

        .LOC .PROG.
; DEBUG - copies the kernel to where it runs and reports a stop before any program has run.
;   Entry:    a jump, here or to the same place of a copy at KLOAD; interrupts off
;   Exit:     as HELD
;   Errors:   none
;   Clobbers: everything
;   Stack:    12 bytes of the kernel's stack
;   Cycles:   60000, and the event
DEBUG:  LXI H,KLOAD             ; the addresses are absolute, so this runs at either place
        LXI D,DEBUG
        LXI B,KLEN
        LDIR
        JMP ..HERE
..HERE: LXI SP,STACK
        LXI H,REGS
        LXI D,REGS+1
        LXI B,REGLEN-1
        MVI M,0
        LDIR
        LXI H,HOLDS
        SHLD PLACES             ; none
        CALL POLL
        MVI A,C.JMP
        STA KVECT               ; RST 6 leads there from ROM
        LXI H,HELD
        SHLD KVECT+1
        CALL C16INI
        JMP TELL

; HELD - saves all registers of a program that has reached RST 6, and serves the host.
;   Entry:    RST 6, by way of ROM and KVECT; its address is on the program's stack
;   Exit:     by GO and RESET
;   Errors:   none
;   Clobbers: nothing that the program can observe
;   Stack:    4 bytes of the program's, with those of RST 6
;   Cycles:   564..575 until all is saved, those of RST 6 included; GOES takes 426..428
HELD:   PUSH PSW                ; only the stack is used while interrupts may come
        LDAI                    ; P/V = IFF2
        JPE ..IN
        LDAI                    ; 0 also if an interrupt came just then, so once more
..IN:   DI
        SHLD K.HL
        POP H
        SHLD K.AF
        PUSH PSW                ; I and IFF2
        POP H
        SHLD K.FI
        POP H
        DCX H                   ; the RST itself
        SHLD K.PC
        SSPD K.SP
        LXI SP,STACK
        LDAR
        SBCD K.BC
        SDED K.DE
        SIXD K.IX
        SIYD K.IY
        EXX
        SBCD K.BC2
        SDED K.DE2
        SHLD K.HL2
        EXAF
        PUSH PSW
        POP H
        SHLD K.AF2
        EXAF
        LHLD K.FI
        MVI C,M1.IN
        BIT 2,L
        JRNZ ..ON
        MVI C,M1.IN+M1.OFF
..ON:   CALL LESS
        STA K.R
        MOV A,H
        STA K.I
        MOV A,L
        ANI IFF2
        STA K.IFF
        CALL FREE
        MVI A,1
        STA K.WHY
TELL:   LXI H,K.NUM
        INR M
        XRA A
        STA R.SEQ               ; the answer to no request
        MVI A,T.STOP
        CALL STATE              ; falls into SERVE

; SERVE - answers requests for ever.
SERVE:  CALL GETK
        CALL ANSWER
        JMPR SERVE

; ANSWER - executes the request and sends its reply.
;   Entry:    a good frame at REQ
;   Exit:     the reply is sent; GO and RESET do not return
;   Errors:   the error reply
;   Clobbers: everything
;   Stack:    8 bytes of the kernel's stack
;   Cycles:   as long as the line takes
ANSWER: LDA R.TYPE
        CPI T.READ
        JZ K.READ
        CPI T.WRIT
        JZ K.WRIT
        CPI T.STAT
        JZ K.STAT
        CPI T.SET
        JZ K.SET
        CPI T.GO
        JZ K.GO
        CPI T.IDNT
        JZ K.IDNT
        CPI T.RSET
        JZ K.RSET
        MVI C,E.TYPE
        LXI D,0                 ; falls into REFUSE

; REFUSE - sends the error reply.
;   Entry:    C = code; DE = detail; R.TYPE = the request's type
;   Exit:     it is sent
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    6 bytes
;   Cycles:   as long as the line takes
REFUSE: LXI H,P.DATA
        MOV M,C
        INX H
        LDA R.TYPE
        MOV M,A
        INX H
        MOV M,E
        INX H
        MOV M,D
        MVI A,T.ERR
        MVI C,4
        JMP PUTK

; LESS - subtracts from the seven bits of R that count instructions.
;   Entry:    A = R; C = how many
;   Exit:     A = R before them; bit 7 is as it was
;   Errors:   none
;   Clobbers: B, F
;   Stack:    0 bytes
;   Cycles:   33
LESS:   MOV B,A
        SUB C
        XRA B
        ANI 7FH                 ; bit 7 stays
        XRA B
        RET

; FREE - puts the bytes back that RST 6 has replaced, the last one first.
;   Entry:    PLACES and HOLDS = the breakpoints
;   Exit:     no breakpoint is set; HL = HOLDS
;   Errors:   none
;   Clobbers: AF, DE
;   Stack:    2 bytes
;   Cycles:   77 and 129 a breakpoint
FREE:   LHLD PLACES
..NEXT: LXI D,HOLDS
        ORA A
        PUSH H
        DSBC D
        POP H
        RZ
        DCX H
        MOV A,M                 ; the byte
        DCX H
        MOV D,M                 ; its address
        DCX H
        MOV E,M
        STAX D
        SHLD PLACES
        JMPR ..NEXT

; K.STAT - answers STATE.
K.STAT: MVI A,T.STAT+T.REPL     ; falls into STATE

; STATE - sends the state.
;   Entry:    A = type of the frame; REGS = the state
;   Exit:     it is sent
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    6 bytes
;   Cycles:   as long as the line takes
STATE:  LXI H,REGS
        LXI D,P.DATA
        LXI B,REGLEN
        LDIR
        MVI C,REGLEN
        JMP PUTK

; K.SET - answers SET.
K.SET:  LDA R.LEN
        CPI SETLEN
        JRNZ LENGTH
        LXI H,R.DATA
        LXI D,SETS
        LXI B,SETLEN
        LDIR
; DONE - sends an empty reply.
;   Entry:    R.TYPE = the request's type
;   Exit:     it is sent
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    6 bytes
;   Cycles:   as long as the line takes
DONE:   LDA R.TYPE
        ORI T.REPL
        MVI C,0
        JMP PUTK

; LENGTH - refuses a request for its length.
LENGTH: LDA R.LEN
        MOV E,A
        MVI D,0
        MVI C,E.LEN
        JMPR REFUSE

; K.READ - answers READ, of any memory.
K.READ: LDA R.LEN
        CPI 3
        JRNZ LENGTH
        LDA R.DATA+2            ; how many
        DCR A
        CPI MAXBLK
        JRNC ..BAD
        INR A
        MOV C,A
        MVI B,0
        LHLD R.DATA
        SHLD P.DATA             ; the address
        LXI D,P.DATA+2
        LDIR
        ADI 2
        MOV C,A
        MVI A,T.READ+T.REPL
        JMP PUTK
..BAD:  MVI C,E.ARG
        LXI D,2
        JMP REFUSE

; K.WRIT - answers WRITE, to any memory.
K.WRIT: LDA R.LEN
        CPI 3
        JRC LENGTH
        SUI 2
        MOV B,A
        LDED R.DATA
        SDED P.DATA
        STA P.DATA+2
        LXI H,R.DATA+2
..BYTE: MOV A,M
        STAX D
        LDAX D
        CMP M
        MVI C,E.READ
        JNZ REFUSE              ; no RAM at address DE
        INX H
        INX D
        DJNZ ..BYTE
        MVI A,T.WRIT+T.REPL
        MVI C,3
        JMP PUTK

; K.IDNT - answers IDENT.
K.IDNT: LXI H,IDENT
        LXI D,P.DATA
        LXI B,IDLEN
        LDIR
        MVI C,IDLEN
        MVI A,T.IDNT+T.REPL
        JMP PUTK

; K.RSET - answers RESET, then jumps to 0000H with the code in register I that says to stay.
K.RSET: CALL DONE
        CALL QUIET
        MVI A,STAY
        STAI
        JMP 0

; K.GO - answers GO: sets RST 6 as breakpoint at each address of it and resumes the program.
K.GO:   LDA R.LEN
        SRLR A                  ; the number of the stop comes first
        JNC LENGTH
        CPI BPMAX+1
        JNC LENGTH
        MOV B,A                 ; places
        LDA K.NUM
        LXI H,R.DATA
        CMP M
        LXI D,0
        MVI C,E.ARG             ; a GO that was answered already
        JRNZ ..NO
        INX H
        INR B
        JMPR ..TEST
..NEXT: MOV E,M
        INX H
        MOV D,M                 ; DE = a place
        INX H
        PUSH H
        LHLD PLACES
        MOV M,E
        INX H
        MOV M,D
        INX H
        LDAX D
        MOV M,A                 ; what is there
        INX H
        SHLD PLACES
        MVI A,C.RST
        STAX D
        LDAX D
        CPI C.RST
        POP H
        JRNZ ..ROM
..TEST: DJNZ ..NEXT
        CALL DONE
        CALL QUIET
        JMPR GOES
..ROM:  PUSH D
        CALL FREE
        POP D
        MVI C,E.READ
..NO:   JMP REFUSE

; GOES - resumes the program.
GOES:   LHLD K.AF2
        PUSH H
        POP PSW
        LBCD K.BC2
        LDED K.DE2
        LHLD K.HL2
        EXAF
        EXX
        LHLD K.PC
        SHLD RESUME+1
        LIXD K.IX
        LIYD K.IY
        LDA K.IFF
        ORA A
        JRZ ..OFF
        MVI A,C.EI
..OFF:  STA SWITCH              ; NOP is 0
        LDA K.I
        STAI
        LDA K.R
        MVI C,M1.OUT
        CALL LESS
        STAR
        LBCD K.BC               ; from here on M1.OUT counts
        LDED K.DE
        LXI SP,K.AF
        POP PSW
        LSPD K.SP
        LHLD K.HL
SWITCH: NOP                     ; or EI, which takes effect after the jump
RESUME: JMP 0

IDENT:  .BYTE ROLE.K,PROTO
BUILD:  .BYTE 0,0,0,0           ; the builder puts the CRC-32 of the image here
        .WORD MAXENC+2,0,0FFFFH
        .BYTE C.RAM
        .ASCII /Sargon debug kernel 1/
IDLEN   == .-IDENT
        .END
