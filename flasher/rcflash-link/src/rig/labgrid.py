"""Acquires a place of labgrid for the parent process.

The place is acquired at the start, unless this user has acquired it already, and released when standard input is
closed, also because the parent was killed. Prints the lines "port ADDRESS", "reset yes" or "reset no", and "ready";
then "done" for each input line "reset"; or "error TEXT". While another has the place, prints "busy TEXT", at first and
for each input line "retry"; the first of these reserves the place.
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


def start_client(*arguments, output=subprocess.PIPE):
    """Starts a command of labgrid-client."""
    # With an environment the client would use all its places.
    environment = {name: value for name, value in os.environ.items() if name != "LG_ENV"}
    # In a session of its own, so that no signal to this process group interrupts it.
    return subprocess.Popen(
        [sys.executable, "-m", "labgrid.remote.client", *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        text=True,
        start_new_session=True,
    )


def client(*arguments):
    """Runs a command of labgrid-client and returns its output; raises RuntimeError with its message if it fails."""
    process = start_client(*arguments)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    if process.returncode != 0:
        lines = (err.strip() or out.strip()).splitlines()
        raise RuntimeError(lines[-1] if lines else f"labgrid-client {arguments[-1]} failed")
    return out


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


def is_busy(error):
    return " already acquired " in str(error) or " was not reserved for " in str(error)


def acquire(place):
    """Acquires a place; returns whether to release it: not if this user on this computer had acquired it before, as for
    pytest."""
    try:
        client("-p", place, "acquire")
    except RuntimeError as error:
        if str(error).endswith(f"You have already acquired place {place}."):
            return False
        raise
    return True


class Reservation:
    """A turn in labgrid's queue for a place; given up when closed. Expires after a minute without `wait`."""

    def __init__(self, place):
        self.token = client("reserve", "--shell", f"name={place}").strip().rpartition("=")[2]
        self.waiter = start_client("wait", self.token, output=subprocess.DEVNULL)

    def is_waiting(self):
        return self.waiter.poll() is None

    def close(self):
        self.waiter.kill()
        self.waiter.wait()
        try:
            client("cancel-reservation", self.token)
        except RuntimeError:
            pass  # it has expired


def acquire_in_turn(place):
    """Acquires a place as `acquire` does, after those that have it or wait for it, if the parent waits."""
    reservation = None
    try:
        while True:
            if reservation is None or not reservation.is_waiting():
                try:
                    return acquire(place)
                except RuntimeError as error:
                    if not is_busy(error):
                        raise
                    problem = error
            report("busy", problem)
            if not sys.stdin.readline():
                sys.exit()
            if reservation is None:
                reservation = Reservation(place)
    finally:
        if reservation is not None:
            reservation.close()


def main(place):
    must_release = acquire_in_turn(place)
    try:
        serve(place)
    except Terminated:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if must_release:
            client("-p", place, "release")


try:
    main(sys.argv[1])
except Exception as error:
    report("error", str(error) or type(error).__name__)
    sys.exit(1)
