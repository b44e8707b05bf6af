"""Runs a command with --port and the serial port of a device of Jumpstarter:

    jmp shell --client lab --selector board=classic -- python jumpstarter_port.py hw-tests run --tag play

The exporter's `serial` is a jumpstarter_driver_pyserial.driver.PySerial, of a device or an address.
Without a controller: jmp shell --exporter-config exporter.yaml -- ...
"""

import subprocess
import sys

from jumpstarter.utils.env import env
from jumpstarter_driver_network.adapters import TcpPortforwardAdapter

with env() as client, TcpPortforwardAdapter(client=client.serial) as (host, port):
    code = subprocess.run([*sys.argv[1:], "--port", f"tcp://{host}:{port}"]).returncode
sys.exit(code)
