"""Connects to an RFC 2217 server by pyserial, sends bytes in hexadecimal and prints the answer."""

import sys

import serial

port = serial.serial_for_url(sys.argv[1], baudrate=115200, rtscts=True, timeout=10)
port.write(bytes.fromhex(sys.argv[2]))
answer = bytearray()
while answer.count(0) < 2:
    byte = port.read(1)
    if not byte:
        sys.exit("no answer within 10 s")
    answer += byte
print(answer.hex())
port.reset_output_buffer()
port.baudrate = 9600
print(port.baudrate)
port.close()
