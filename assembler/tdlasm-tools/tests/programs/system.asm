; SYSTEM.ASM - WHAT CP/M OFFERS.  READ IN BY EACH MODULE OF COMPARE.ASM; IT
; MAKES NO CODE OF ITS OWN.
BDOS    ==      5               ; THE ONE ENTRY
FCB.1   ==      5CH             ; THE FIRST NAME ON THE COMMAND LINE
FCB.2   ==      FCB.1+16        ; AND THE SECOND
RECORD  ==      128             ; BYTES IN A RECORD
EOFCHR  ==      'Z'-'@'         ; WHAT ENDS A TEXT
;
; FUNCTION - A MACRO THAT MAKES A MACRO FOR A SERVICE.  THE NEW ONE TAKES
; WHAT GOES TO DE, IF ANYTHING
;
        .DEFINE FUNCTION[NAME,NUMBER]=[
        .DEFINE NAME[WHAT]=[
        .IFNB   [WHAT],[
        LXI     D,WHAT
]
        MVI     C,NUMBER
        CALL    BDOS
]
]
        FUNCTION TYPE,2
        FUNCTION PRINT,9
        FUNCTION OPENFILE,15
        FUNCTION READ,20
        FUNCTION SETDMA,26
;
; FIELDS - NAMES FOR THE PLACES IN A RECORD, EACH BEHIND THE OTHER
;
        .DEFINE FIELDS[N1,L1,N2,L2,N3,L3,N4]=[
J       =       0
N1      ==      J
J       =       J+L1
N2      ==      J
J       =       J+L2
N3      ==      J
J       =       J+L3
N4      ==      J
]
        FIELDS  F.LEFT,1,F.FCB,36,F.BUFFER,RECORD,F.SIZE
