"""Serves a serial device by pyserial's PortManager, one client at a time.

Prints the TCP port, then each change of a wire, which a pseudo-terminal does not have.
"""

import socket
import sys
import threading

import serial
import serial.rfc2217


class Port(serial.Serial):
    """The device; its wires are only written down."""

    cts = dsr = cd = True
    ri = False

    def _note(name):
        def change(self, value):
            print(name, value, flush=True)

        return property(lambda self: True, change)

    dtr = _note("dtr")
    rts = _note("rts")
    break_condition = _note("break")

    def _update_dtr_state(self):
        pass

    def _update_rts_state(self):
        pass


class Client:
    """The connection, as PortManager wants it."""

    def __init__(self, connection):
        self.connection = connection
        self.lock = threading.Lock()

    def write(self, data):
        with self.lock:
            self.connection.sendall(data)


def serve(port, connection):
    client = Client(connection)
    manager = serial.rfc2217.PortManager(port, client)
    ended = threading.Event()

    def listen():
        while not ended.is_set():
            data = port.read(port.in_waiting or 1)
            if data:
                try:
                    client.write(b"".join(manager.escape(data)))
                except OSError:
                    return

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        while data := connection.recv(4096):
            port.write(b"".join(manager.filter(data)))
    except OSError:
        pass
    ended.set()
    listener.join()


port = Port(sys.argv[1], 115200, timeout=0.05, rtscts=True)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection:
        serve(port, connection)
