; The evaluator's names for an override routine: insert this file instead of sargon.asm. It makes
; no code.

        .INSERT sargon.asm
        .EXTERN BOARDA,ATKLST,WACT,BACT,PLISTA,PLDIRA,POSK,POSQ,STATUS,TBASE
        .EXTERN M1,M2,M3,M4,T1,T2,T3,INDX1,INDX2,NPINS,P1,P2,P3,PINPAG
