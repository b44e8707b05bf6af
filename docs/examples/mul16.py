"""Reference for mul16.test.toml: a line of JSON per call in, a line of JSON out."""

import json
import sys

for line in sys.stdin:
    call = json.loads(line)
    product = call["in"]["BC"] * call["in"]["DE"]
    print(json.dumps({"DE": product >> 16, "HL": product & 0xFFFF}), flush=True)
