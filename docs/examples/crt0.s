; Start-up of a C program for `hw-tests batch`, for SDCC 4.2 and later. putchar and exit work under
; this project's monitor, the Small Computer Monitor, RomWBW, ROM BASIC and CP/M.
;
;   sdasz80 -o crt0.rel crt0.s
;   sdcc -mz80 -c prog.c
;   sdcc -mz80 --no-std-crt0 --code-loc 0x8400 --data-loc 0 -o prog.ihx crt0.rel prog.rel

        .module crt0
        .globl  _main
        .globl  l__DATA, s__DATA, l__INITIALIZER, s__INITIALIZER, s__INITIALIZED

        .area   _CODE
start:  ld      sp, #0xD800             ; free under every monitor
        call    gsinit
        call    _main
        ex      de, hl                  ; what main returned

; void exit(int status): sends EOT, the status as two hexadecimal digits, CR and LF, and restarts the
; monitor.
_exit::
        push    hl
        ld      e, #0x04
        call    send
        pop     hl
        push    hl
        ld      a, l
        rrca
        rrca
        rrca
        rrca
        call    digit
        pop     hl
        ld      a, l
        call    digit
        ld      e, #0x0A
        call    newline
        ld      hl, #3000               ; two characters at 9600 baud are still in the serial chip
wait:   dec     hl
        ld      a, h
        or      a, l
        jr      nz, wait
        jp      0

digit:  and     a, #0x0F
        add     a, #0x90                ; '0' to '9', 'A' to 'F'
        daa
        adc     a, #0x40
        daa
        ld      e, a
        jr      send

; int putchar(int character): sends LF as CR LF.
_putchar::
        ex      de, hl
        push    de
        ld      a, e
        cp      a, #0x0A
        call    z, newline
        call    nz, send
        pop     de
        ret

newline:
        ld      e, #0x0D
        call    send
        ld      e, #0x0A
        call    send
        xor     a, a                    ; Z stays set
        ret

; Sends E.
send:   push    ix                      ; C expects it back
        ld      a, (0x0005)
        cp      a, #0xC3
        jr      nz, rom
        ld      a, (0x0007)
        rla
        jr      nc, rom
        ld      c, #0x02                ; CP/M: a jump to BDOS in high memory
        call    0x0005
        pop     ix
        ret
rom:    ld      a, e                    ; the others send A,
        ld      bc, #0x0180             ; and RomWBW sends E to the console
        rst     0x08
        pop     ix
        ret

        .area   _INITIALIZER            ; areas in the order of the linker
        .area   _GSINIT
gsinit: ld      bc, #l__DATA
        ld      hl, #s__DATA
clear:  ld      a, b
        or      a, c
        jr      z, copy
        ld      (hl), #0
        inc     hl
        dec     bc
        jr      clear
copy:   ld      bc, #l__INITIALIZER
        ld      a, b
        or      a, c
        jr      z, done
        ld      de, #s__INITIALIZED
        ld      hl, #s__INITIALIZER
        ldir
done:

        .area   _GSFINAL
        ret

        .area   _DATA
        .area   _INITIALIZED
        .area   _BSS
        .area   _HEAP
