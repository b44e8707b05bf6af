"""Acquires a place of labgrid for the parent process.

The place is acquired at the start, unless this user has acquired it already, and released when standard input is
closed, also because the parent was killed. Prints the lines "port ADDRESS", "reset yes" or "reset no", and "ready";
then "done" for each input line "reset"; or "error TEXT", or "busy TEXT" if another has the place.
"""

import os
import signal
import subprocess
import sys
import tempfile

# Ctrl-C in the terminal is handled by the parent, whose end releases the place.
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)


class Terminated(Exception):
    """SIGTERM was received."""


def terminate(number, frame):
    raise Terminated


signal.signal(signal.SIGTERM, terminate)


def report(keyword, text=""):
    line = " ".join(f"{keyword} {text}".split())
    try:
        print(line, flush=True)
    except OSError:
        pass  # the parent has exited; the place is released anyway


def client(place, command):
    """Runs a command of labgrid-client; raises RuntimeError with its message if it fails."""
    arguments = [sys.executable, "-m", "labgrid.remote.client", "-p", place, command]
    # With an environment the client would use all its places.
    environment = {name: value for name, value in os.environ.items() if name != "LG_ENV"}
    # In a session of its own, so that no signal to this process group interrupts it.
    done = subprocess.run(
        arguments,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
    )
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise RuntimeError(lines[-1] if lines else f"labgrid-client {command} failed")


def role_of(place, config):
    """Returns the name of the target with this place in an environment."""
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


def serve(place):
    target = target_of(place)
    address = address_of(target)
    power = driver(target, "PowerProtocol")
    if power is not None:
        power.on()
    # Without a reset driver, a power driver resets by a power cycle.
    reset = driver(target, "ResetProtocol")
    report("port", address)
    report("reset", "yes" if reset is not None else "no")
    report("ready")
    for line in sys.stdin:
        if line.strip() == "reset":
            try:
                reset.reset()
                report("done")
            except Exception as error:
                report("error", str(error) or type(error).__name__)


def acquire(place):
    """Acquires a place; returns whether to release it: not if this user on this computer had acquired it before, as for
    pytest."""
    try:
        client(place, "acquire")
    except RuntimeError as error:
        if str(error).endswith(f"You have already acquired place {place}."):
            return False
        raise
    return True


def main(place):
    must_release = acquire(place)
    try:
        serve(place)
    except Terminated:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if must_release:
            client(place, "release")


try:
    main(sys.argv[1])
except Exception as error:
    text = str(error) or type(error).__name__
    is_busy = " already acquired " in text or " was not reserved for " in text
    report("busy" if is_busy else "error", text)
    sys.exit(1)
