; The application's requests on what residues mean: the highest ones of a position.

        .IDENT ANALYS
        .INTERN DOPNTS
        .EXTERN UNPACK,REFUSE,PINFND,POINTS,MOVER,MOVED,PTSL,STATUS
        .EXTERN NEWRPL,PUTFRM,R.DATA,P.LEN,P.DATA
        .INSERT wire.asm
        .INSERT sargon.asm

; DOPNTS - answers POINTS.
DOPNTS: LDA R.DATA+32
        ANI 7FH
        LXI D,32
        JNZ REFUSE              ; neither White nor Black
        CALL UNPACK
        JC REFUSE
        LHLD R.DATA+32          ; who has moved, and where to
        SHLD MOVER
        CALL PINFND
        CALL POINTS
        CALL NEWRPL
        XCHG
        LXI H,PTSL
        LXI B,PTSLEN
        LDIR
        LDA STATUS
        STAX D
        MVI A,PTSLEN+1
        STA P.LEN
        JMP PUTFRM
        .END
