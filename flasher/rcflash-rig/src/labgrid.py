"""Holds a place of labgrid for the program at the other end of the pipes.

The place is acquired at the start, unless this user has it, and given back when standard input ends:
also when that program was killed. Lines to standard output: "port ADDRESS", "reset yes" or "reset no", "ready"; then "done"
for each line "reset"; or "error TEXT".
"""

import os
import signal
import subprocess
import sys
import tempfile

# A Ctrl-C in the terminal is the other program's to obey: its end gives the place back.
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)


class Ended(Exception):
    """A signal asks for the end."""


def end(number, frame):
    raise Ended


signal.signal(signal.SIGTERM, end)


def say(word, text=""):
    line = " ".join(f"{word} {text}".split())
    try:
        print(line, flush=True)
    except OSError:
        pass  # the other program is gone; the place is given back all the same


def client(place, word):
    """Runs a command of labgrid-client; returns its words, or raises with them."""
    command = [sys.executable, "-m", "labgrid.remote.client", "-p", place, word]
    # With an environment the client would take all its places.
    environment = {name: value for name, value in os.environ.items() if name != "LG_ENV"}
    # A session of its own, so that no signal to this group ends it halfway.
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
    )
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise RuntimeError(words[-1] if words else f"labgrid-client {word} failed")


def role_of(place, config):
    """Returns the name of the target in an environment that is at this place."""
    for role, target in config.get_targets().items():
        resources = (target or {}).get("resources", {})
        listed = resources if isinstance(resources, list) else [resources]
        for entry in listed:
            remote = entry.get("RemotePlace")
            if isinstance(remote, dict) and str(remote.get("name")) == place:
                return role
    return None


def target_of(place):
    from labgrid import Environment

    if os.environ.get("LG_ENV"):
        env = Environment(os.environ["LG_ENV"])
        role = role_of(place, env.config)
        if role is not None:
            return env.get_target(role)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False) as file:
        text = "targets:\n  main:\n    resources:\n      RemotePlace:\n        name: {}\n"
        file.write(text.format("'" + place.replace("'", "''") + "'"))
    try:
        return Environment(file.name).get_target("main")
    finally:
        os.unlink(file.name)


def address_of(target):
    from labgrid.util.proxy import proxymanager

    port = target.get_resource("NetworkSerialPort")
    host, number = proxymanager.get_host_and_port(port)
    scheme = "tcp" if port.protocol == "raw" else "rfc2217"
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}:{number}"


def driver(target, protocol):
    from labgrid.exceptions import NoDriverFoundError

    try:
        return target.get_driver(protocol)
    except NoDriverFoundError:
        return None


def hold(place):
    target = target_of(place)
    address = address_of(target)
    power = driver(target, "PowerProtocol")
    if power is not None:
        power.on()
    # A driver of power resets by a power cycle, where no other driver resets.
    reset = driver(target, "ResetProtocol")
    say("port", address)
    say("reset", "yes" if reset is not None else "no")
    say("ready")
    for line in sys.stdin:
        if line.strip() == "reset":
            try:
                reset.reset()
                say("done")
            except Exception as error:
                say("error", str(error) or type(error).__name__)


def acquire(place):
    """Acquires a place; returns whether it is to be given back: not if this user of this computer had
    it before, as for pytest."""
    try:
        client(place, "acquire")
    except RuntimeError as error:
        if str(error).endswith(f"You have already acquired place {place}."):
            return False
        raise
    return True


def main(place):
    is_ours = acquire(place)
    try:
        hold(place)
    except Ended:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if is_ours:
            client(place, "release")


try:
    main(sys.argv[1])
except Exception as error:
    say("error", str(error) or type(error).__name__)
    sys.exit(1)
