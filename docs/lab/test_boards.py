"""Runs the regression on boards of a lab, by pytest:

    labgrid-client -c environment.yaml acquire
    LG_ENV=environment.yaml pytest --lg-env environment.yaml test_boards.py
    labgrid-client -c environment.yaml release

labgrid's plugin wants the places acquired; hw-tests uses them and leaves them so. HW_TESTS names the
program if it is not in PATH, HW_TESTS_CASES cases to run instead of all.
"""

import json
import os
import subprocess

import pytest

PROGRAM = os.environ.get("HW_TESTS", "hw-tests")
CASES = os.environ.get("HW_TESTS_CASES", "").split()


def places(env):
    """Returns the names of the places in an environment."""
    targets = env.config.get_targets().values()
    return [target["resources"]["RemotePlace"]["name"] for target in targets]


@pytest.fixture(scope="module")
def report(env, tmp_path_factory):
    """The report of one run that is spread over all places."""
    folder = tmp_path_factory.mktemp("report")
    rigs = [word for place in places(env) for word in ("--rig", f"labgrid://{place}")]
    command = [PROGRAM, "run", "--report-dir", str(folder), *rigs, *CASES]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode not in (2, 70), done.stderr
    return json.loads((folder / "report.json").read_text())


def test_every_case_has_the_right_answer(report):
    wrong = [case for case in report["cases"] if case["verdict"] != "pass"]
    told = [f"{case['id']}: {case['verdict']} {case.get('fault', '')}" for case in wrong]
    assert not wrong, "\n".join(told)


def test_every_board_was_at_work(report):
    boards = report.get("boards", [])
    ended = {board["name"]: board["ended"] for board in boards if board["ended"] != "complete"}
    assert not ended, ended
