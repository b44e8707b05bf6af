; One call of a routine under test: all registers in and out, a stack of its own, and what it may
; have damaged.

        .IDENT INVOKE
        .INTERN CLINI,INVOKE,MARK,JUDGE,RIN,ROUT,ENTRY,DEEP
        .EXTERN CHKINT,OFFS,LOSSES,RXIN,CALSTK
        .INSERT wire.asm

UNUSED  == 5AH          ; fills the stack's unused part
DEEP    == 248          ; bytes of stack for a routine; its return address and copies follow
JUMP    == JMP          ; the opcode
IRQLEN  == 5            ; bytes from RXIN on, of which each interrupt changes one at least

; The layout aligns them to 64 bytes: the addresses of both blocks differ in their low bytes only.
        .LOC .DATA.
RIN:    .BLKW 16        ; registers for the routine, and room for those of masks that mean nothing
ROUT:   .BLKW PAIRS     ; registers that it left
OWNSP:  .BLKW 1         ; the caller's stack pointer
GOTSP:  .BLKW 1         ; the routine's when it returned
BADSP:  .BLKB 1         ; how often that was another one
GOTO:   .BLKB 1         ; JMP
ENTRY:  .BLKW 1         ; the routine
WERE:   .BLKB 3+IRQLEN  ; the counts and pointers that MARK found

        .LOC .PROG.
; CLINI - fills the routine's stack and makes the jump to the routine.
;   Entry:    nothing
;   Exit:     INVOKE can be called
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    0 bytes
;   Cycles:   5252
CLINI:  LXI H,CALSTK
        LXI D,CALSTK+1
        LXI B,DEEP-1
        MVI M,UNUSED
        LDIR
        MVI A,JUMP
        STA GOTO
        RET

; INVOKE - calls the routine at ENTRY. Copies of its return address lie above it, so that a routine
; that takes up to three words too many off the stack returns, too.
;   Entry:    RIN = its registers: AF, BC, DE, HL, IX, IY, AF', BC', DE', HL'; interrupts on
;   Exit:     ROUT = the registers that it left, in the same order; interrupts on
;   Errors:   BADSP is one more if it returned with another stack pointer, OFFS with interrupts off
;   Clobbers: everything
;   Stack:    4 bytes
;   Cycles:   740 and the routine's
INVOKE: LXI H,RETURN
        SHLD CALSTK+DEEP
        LHLD RIN+12             ; AF'
        PUSH H
        POP PSW
        LBCD RIN+14
        LDED RIN+16
        LHLD RIN+18
        EXX
        EXAF
        LIXD RIN+8
        LIYD RIN+10
        LHLD RIN
        PUSH H
        POP PSW                 ; no instruction from here on changes it
        LBCD RIN+2
        LDED RIN+4
        LHLD RIN+6
        SSPD OWNSP
        LXI SP,CALSTK+DEEP      ; as if its return address had just been pushed
        JMP GOTO

RETURN: SSPD GOTSP
        LSPD OWNSP
        SHLD ROUT+6
        PUSH PSW
        POP H
        SHLD ROUT
        SBCD ROUT+2
        SDED ROUT+4
        SIXD ROUT+8
        SIYD ROUT+10
        EXX
        EXAF
        PUSH PSW
        SHLD ROUT+18
        POP H
        SHLD ROUT+12
        SBCD ROUT+14
        SDED ROUT+16
        LHLD GOTSP
        LXI D,CALSTK+DEEP+2
        ORA A
        DSBC D
        JRZ ..SP
        LXI H,BADSP
        INR M
..SP:   JMP CHKINT

; MARK - notes what JUDGE compares, and puts the copies of the return address above it.
;   Entry:    nothing
;   Exit:     INVOKE can be called
;   Errors:   none
;   Clobbers: AF, BC, DE, HL
;   Stack:    0 bytes
;   Cycles:   280
MARK:   LXI H,RETURN
        SHLD CALSTK+DEEP+2
        SHLD CALSTK+DEEP+4
        SHLD CALSTK+DEEP+6
        LXI H,WERE
        LDA BADSP
        MOV M,A
        INX H
        LDA OFFS
        MOV M,A
        INX H
        LDA LOSSES
        MOV M,A
        INX H
        XCHG
        LXI H,RXIN
        LXI B,IRQLEN
        LDIR
        RET

; JUDGE - returns what has happened since MARK, and the depth of the routine's stack, which it
; fills again. An interrupt's 16 bytes count as the routine's.
;   Entry:    nothing
;   Exit:     C = bits of S.SP and the like, B = bytes of stack used
;   Errors:   none
;   Clobbers: AF, DE, HL
;   Stack:    2 bytes
;   Cycles:   5400..7800
JUDGE:  MVI C,0
        LXI H,WERE
        LDA BADSP
        CMP M
        JRZ ..SP
        SET 0,C                 ; S.SP
..SP:   INX H
        LDA OFFS
        CMP M
        JRZ ..OFF
        SET 1,C                 ; S.OFF
..OFF:  INX H
        LDA LOSSES
        CMP M
        JRZ ..LOST
        SET 3,C                 ; S.LOST
..LOST: LXI D,RXIN
        MVI B,IRQLEN
..SAME: INX H
        LDAX D
        CMP M
        JRNZ ..INT
        INX D
        DJNZ ..SAME
        JMPR ..DEEP
..INT:  SET 4,C                 ; S.INT
..DEEP: LXI H,CALSTK
        LXI D,CALSTK+DEEP
        MVI A,UNUSED
        CMP M
        JRZ ..LOOK
        SET 2,C                 ; S.OVFL: the lowest byte has changed
..LOOK: CMP M                   ; four in a row, for less time
        JRNZ ..HERE
        INR L                   ; the layout puts the stack in one page
        CMP M
        JRNZ ..HERE
        INR L
        CMP M
        JRNZ ..HERE
        INR L
        CMP M
        JRNZ ..HERE
        INR L
        JMPR ..LOOK
..HERE: MOV A,E
        SUB L
        MOV B,A
        RZ                      ; nothing was pushed
        JRNC ..FILL
        MVI B,0                 ; the return address begins like the filling
        RET
..FILL: PUSH B
..BYTE: MVI M,UNUSED
        INX H
        DJNZ ..BYTE
        POP B
        RET
        .END
