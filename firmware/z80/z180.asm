; Registers on a Z180's chip, inserted by what uses them. UARTC is the port of STAT0. Only IN0 and
; OUT0 reach them whatever A and B are: the high byte of the address has to be 0.

CNTLA0  == UARTC-4
CNTLB0  == UARTC-2
STAT1   == UARTC+1
TDR0    == UARTC+2
TCR     == UARTC+0CH
ASEXT0  == UARTC+0EH
TMDR1   == UARTC+10H
RLDR1   == UARTC+12H
CCR     == UARTC+1BH
DCNTL   == UARTC+2EH
IL      == UARTC+2FH
ITC     == UARTC+30H
RCR     == UARTC+32H
CBR     == UARTC+34H
BBR     == UARTC+35H
CBAR    == UARTC+36H

        .DEFINE INCHIP[PORT]=[
        .BYTE 0EDH,38H,PORT     ; IN0 A,(PORT)
]
        .DEFINE OUTCHP[PORT]=[
        .BYTE 0EDH,39H,PORT     ; OUT0 (PORT),A
]
        .DEFINE SETCHP[PORT,VALUE]=[
        MVI A,VALUE
        OUTCHP PORT
]
