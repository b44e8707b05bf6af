; primes.asm - prints the primes below 1000 by the sieve of Eratosthenes.

STATUS  ==      80H             ; control port of the 68B50
DATA    ==      81H             ; and its data port
LIMIT   ==      1000

        .LOC    8000H
START:  LXI     SP,0FF00H
        LXI     H,SIEVE         ; at first every number may be prime: 0
        LXI     D,SIEVE+1
        LXI     B,LIMIT-1
        MVI     M,0
        LDIR
        LXI     D,2             ; DE is the number
..NEXT: LXI     H,SIEVE
        DAD     D
        MOV     A,M
        ORA     A
        JRNZ    ..SKIP
        CALL    STRIKE
        XCHG
        PUSH    H
        CALL    NUMBER
        MVI     A,' '
        CALL    SEND
        POP     D
..SKIP: INX     D
        LXI     H,-LIMIT
        DAD     D
        JRNC    ..NEXT
        JMP     0               ; back to what is in the ROM

; STRIKE - marks the multiples of DE from 2 * DE on, with HL at the place of DE.
STRIKE: LXI     B,SIEVE+LIMIT
..NEXT: DAD     D
        ORA     A
        PUSH    H
        DSBC    B
        POP     H
        RNC
        MVI     M,1
        JMPR    ..NEXT

; NUMBER - prints HL in decimal, without zeros in front.
NUMBER: MVI     C,0             ; digits printed
        LXI     D,100
        CALL    DIGIT
        LXI     D,10
        CALL    DIGIT
        MOV     A,L
        ADI     '0'
        JMP     SEND

; DIGIT - prints how often HL holds DE, unless it is a zero in front; HL is the rest.
DIGIT:  MVI     B,'0'-1
..MORE: INR     B
        ORA     A
        DSBC    D
        JRNC    ..MORE
        DAD     D
        MOV     A,B
        SUI     '0'
        ORA     C
        RZ
        INR     C
        MOV     A,B

; SEND - waits until the board can send, and sends what is in A.
SEND:   PUSH    PSW
..WAIT: IN      STATUS
        ANI     2
        JRZ     ..WAIT
        POP     PSW
        OUT     DATA
        RET

SIEVE:  .BLKB   LIMIT
        .END    START
