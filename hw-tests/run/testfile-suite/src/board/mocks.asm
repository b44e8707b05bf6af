; What mocks do on a board instead of the routines that they replace. mocks.rs adds the entries,
; tables and records, and reads the counts. SP is never below the return address of the mock.

; MOCK - counts a call, sets registers and memory, and returns for the routine.
;   Entry:    %HL = HL of the caller, HL = table of the mock
;   Exit:     registers and memory as the current record sets them
;   Errors:   none
;   Clobbers: what the record sets
;   Stack:    0 bytes
;   Cycles:   depends on the record
MOCK:   SDED    %DE
        XCHG
        POP     H
        SHLD    %RET
        PUSH    PSW
        POP     H
        SHLD    %REGS
        SBCD    %BC
        SIXD    %IX
        SIYD    %IY
        EXX
        SBCD    %BC2
        SDED    %DE2
        SHLD    %HL2
        EXX
        EXAF
        PUSH    PSW
        POP     H
        SHLD    %AF2
        EXAF
        XCHG                    ; the table: count, current record
        MOV     E,M
        INX     H
        MOV     D,M
        INX     D
        MOV     M,D
        DCX     H
        MOV     M,E
        INX     H
        INX     H
        MOV     E,M
        INX     H
        MOV     D,M
        XCHG                    ; the record: next record, bytes of registers, blocks of memory
        MOV     C,M
        INX     H
        MOV     A,M
        INX     H
        STAX    D
        DCX     D
        MOV     A,C
        STAX    D
        MOV     B,M
        INX     H
        MOV     A,B
        ORA     A
        JRZ     ..MEM
..REG:  MOV     E,M             ; address, bits that are kept, bits that are set
        INX     H
        MOV     D,M
        INX     H
        LDAX    D
        ANA     M
        INX     H
        ORA     M
        INX     H
        STAX    D
        DJNZ    ..REG
..MEM:  MOV     A,M
        INX     H
..NEXT: ORA     A
        JRZ     ..DONE
        MOV     E,M             ; address, length, bytes
        INX     H
        MOV     D,M
        INX     H
        MOV     C,M
        INX     H
        MOV     B,M
        INX     H
        LDIR
        DCR     A
        JMPR    ..NEXT
..DONE: LHLD    %AF2
        PUSH    H
        EXAF
        POP     PSW
        EXAF
        EXX
        LBCD    %BC2
        LDED    %DE2
        LHLD    %HL2
        EXX
        LIXD    %IX
        LIYD    %IY
        LBCD    %BC
        LDED    %DE
        LHLD    %REGS
        PUSH    H
        POP     PSW
        LHLD    %RET
        PUSH    H
        LHLD    %HL
        ; allow unbalanced-stack
        RET                     ; to the address that %RET holds

%REGS:  .WORD   0               ; AF
%BC:    .WORD   0
%DE:    .WORD   0
%HL:    .WORD   0
%IX:    .WORD   0
%IY:    .WORD   0
%AF2:   .WORD   0
%BC2:   .WORD   0
%DE2:   .WORD   0
%HL2:   .WORD   0
%RET:   .WORD   0
        .END
