; A console in memory with the entry of CP/M 2.2's BDOS ("CP/M 2 Interface Guide", Digital Research,
; 1979). It is linked to programs under test, whose labels do not begin with %. console.rs knows
; the offsets up to %OUTBF.

        .IDENT  CONSOL
        .INTERN BDOS

BDOS:   JMP     %SERVE
%PUTC:  JMP     %PUTAL
%WAITS: JMP     %WAITS          ; more input is read than there is
%OTHER: JMP     %OTHER          ; the function in C is not served
%INUSE: .WORD   0               ; bytes of input that were read
%INSIZ: .WORD   0               ; bytes of input
%INBUF: .BLKB   512
%OUTSZ: .WORD   0               ; bytes of output, also of those that don't fit
%OUTBF: .BLKB   1024

; %SERVE - runs a function of the BDOS.
;   Entry:    C = function, E or DE = parameter
;   Exit:     A, L = result; B, H = 0
;   Errors:   waits forever for missing input, or in another function
;   Clobbers: F, C, DE, as no program may rely on them
;   Stack:    6 bytes
;   Cycles:   depends on the function
%SERVE: MOV     A,C
        CPI     1
        JRZ     ..READ
        CPI     2
        JRZ     ..WRIT
        CPI     6
        JRZ     ..DIR
        CPI     9
        JRZ     ..TEXT
        CPI     10
        JRZ     ..LINE
        CPI     11
        JNZ     %OTHER
        CALL    %STAT
        JRZ     ..DONE
        MVI     A,0FFH
        JMPR    ..DONE
..READ: CALL    %GET
        CALL    %PUT
        JMPR    ..DONE
..DIR:  MOV     A,E
        CPI     0FFH
        JRNZ    ..WRIT
        CALL    %STAT
        CNZ     %GET
        JMPR    ..DONE
..TEXT: LDAX    D
        CPI     '$'
        JRZ     ..NONE
        CALL    %PUT
        INX     D
        JMPR    ..TEXT
..LINE: CALL    %LINE
        MVI     E,0DH
..WRIT: MOV     A,E
        CALL    %PUT
..NONE: XRA     A
..DONE: MOV     L,A
        MVI     H,0
        MOV     B,H
        LXI     D,0D5E6H
        MVI     C,0C7H
        RET

; %LINE - reads a line, without editing, up to CR or LF or as many bytes as there is room for.
;   Entry:    DE = room, then a byte for the count, then the bytes
;   Exit:     count and bytes
;   Errors:   waits forever for missing input
;   Clobbers: AF, BC, DE, HL
;   Stack:    4 bytes
;   Cycles:   depends on the line
%LINE:  INX     D
        XRA     A
        STAX    D
..NEXT: CALL    %GET
        CPI     0DH
        RZ
        CPI     0AH
        RZ
        CALL    %PUT
        XCHG                    ; HL = the count
        INR     M
        MOV     C,M
        MVI     B,0
        PUSH    H
        DAD     B
        MOV     M,A
        POP     H
        MOV     A,M
        DCX     H
        CMP     M
        INX     H
        XCHG
        JRC     ..NEXT
        RET

; %STAT - tests whether there is input.
;   Entry:    nothing
;   Exit:     A = 0; Z if there is none
;   Errors:   none
;   Clobbers: F, BC, HL
;   Stack:    0 bytes
;   Cycles:   65
%STAT:  LHLD    %INUSE
        LBCD    %INSIZ
        XRA     A
        DSBC    B
        RET

; %GET - reads a byte of input.
;   Entry:    nothing
;   Exit:     A = byte
;   Errors:   waits forever for missing input
;   Clobbers: F, BC, HL
;   Stack:    2 bytes
;   Cycles:   168
%GET:   CALL    %STAT
        JZ      %WAITS
        LHLD    %INUSE
        INX     H
        SHLD    %INUSE
        LXI     B,%INBUF-1
        DAD     B
        MOV     A,M
        RET

; %PUTAL - appends a byte to the output, in place of a routine of the program.
;   Entry:    A = byte
;   Exit:     nothing
;   Errors:   none
;   Clobbers: none
;   Stack:    8 bytes
;   Cycles:   depends on whether it fits
%PUTAL: PUSH    PSW
        PUSH    B
        PUSH    H
        CALL    %PUT
        POP     H
        POP     B
        POP     PSW
        RET

; %PUT - appends a byte to the output, if it fits.
;   Entry:    A = byte
;   Exit:     nothing
;   Errors:   none
;   Clobbers: F, BC, HL
;   Stack:    0 bytes
;   Cycles:   depends on whether it fits
%PUT:   LHLD    %OUTSZ
        INX     H
        SHLD    %OUTSZ
        LXI     B,-1025
        DAD     B               ; carry if there were 1024 bytes
        RC
        LXI     B,%OUTBF+1024
        DAD     B
        MOV     M,A
        RET
        .END
