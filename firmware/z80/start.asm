; The start of a program that brings its own interrupt service, inserted behind its entry label. The
; program defines IMPAGE, the page of the interrupt table.

IMBYTE  == IMPAGE+1             ; and leads to an address of two such bytes
IMTAB   == IMPAGE*256
IMJUMP  == IMBYTE*256+IMBYTE
C.JMP   == JMP                  ; the opcode

        .IFN HOSTED,[
        LXI H,303H
        .BYTE 0EDH,6CH          ; MLT H of a Z180, 9; NEG of a Z80
        MOV A,L
        CPI 9-6*Z180            ; what the other processor leaves
        RZ                      ; nothing was changed: return to the stock monitor
        .IFE Z180,[
        LXI H,3000              ; time of two characters at 9600 baud, still in transit
..REST: DCX H
        MOV A,H
        ORA L
        JRNZ ..REST
        CALL UMINE
        RNZ                     ; another serial chip
        ]
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
