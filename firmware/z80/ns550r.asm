; Registers of a 16C550, inserted by what uses them. UARTD is the port of the first one.

IER     == UARTD+1      ; bit 0 received characters interrupt, bit 1 the empty transmit FIFO does
IIR     == UARTD+2      ; read
FCR     == UARTD+2      ; written: bits 7-6 trigger (01 = 4), bit 1 empties, bit 0 enables
LCR     == UARTD+3      ; bit 7 the first two registers are the divisor, 03 = 8N1
MCR     == UARTD+4      ; bit 0 /DTR low, bit 1 /RTS low, bit 3 /INT on some boards
RXINTS  == 01H
TXINTS  == 02H
FIFO    == 43H
DLAB    == 83H
FORMAT  == 03H
LISTEN  == 0BH
HOLD    == 08H
