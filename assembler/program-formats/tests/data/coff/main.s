 .globl start
 .text
start: ld a,lab&255
 ld hl,buf
 ld (ix+off),a
 jr start
lab: jp ext
 ld b,lab>>8
 .word lab, ext
 .data
d1: .byte 5
 .bss
buf: .space 4
off=3
