	.TITLE "what a listing shows"
	.LOC 100H
TWO == 2
START:	MVI A,TWO	; a comment
..L:	DCR A
	JRNZ ..L
	.IFE TWO-2,[
	NOP
][
	HLT
]
	.DEFINE LOAD[P]=[
	MVI A,P
	STA 1234H
]
	LOAD 5
	.IFE 0,[.BYTE 1]
TEXT:	.ASCIZ "Hello, world"
	.END START
