 .globl start, table
 .text
start: ld a,table&255
 ld hl,buf
 ld (ix+off),a
 djnz start
 jp start
 ld b,table>>8
table: .word table, d1, buf+1
 .data
d1: .byte 5
 .word start+2
 .bss
buf: .space 4
off=3
