 .globl ext
ext: ret
