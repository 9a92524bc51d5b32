"""An agent that tries what a sealed command may not do. It answers with a line for each attempt: its name, and how it ended."""

import ctypes
import os
import socket
import subprocess
import sys

env = os.environ
suite, place, home = env["EVALSUITE_SUITE_DIR"], env["PLACE"], env["REAL_HOME"]
sibling = f"{place}/out/sibling"
test, sleeper = int(env["TEST_PID"]), int(env["SLEEPER"])


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def append(path):
    with open(path, "ab") as file:
        file.write(b"x")


def connect(family, address):
    with socket.socket(family) as one:
        one.connect(address)


def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"x", ("127.0.0.1", int(env["UDP"])))


def listen():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()


def attach():
    libc = ctypes.CDLL(None, use_errno=True)
    # PTRACE_ATTACH and PTRACE_DETACH
    if libc.ptrace(16, sleeper, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    os.waitpid(sleeper, 0x40000000)
    libc.ptrace(17, sleeper, 0, 0)


def link(target):
    os.link(target, "linked")
    os.unlink("linked")


ATTEMPTS = {
    "read a case": lambda: read(f"{suite}/cases/a/case.yaml"),
    "list the cases": lambda: os.listdir(f"{suite}/cases"),
    "read the workspace of another trial": lambda: read(f"{sibling}/workspace/file"),
    "list the run": lambda: os.listdir(f"{place}/out/runs"),
    "read the own record": lambda: read(f"{env['EVALSUITE_TRIAL_DIR']}/started.json"),
    "read the command line of the test": lambda: read(f"/proc/{test}/cmdline"),
    "read the environment of the test": lambda: read(f"/proc/{test}/environ"),
    "list the files of the test": lambda: os.listdir(f"/proc/{test}/fd"),
    "read a key in the home directory": lambda: read(f"{home}/.ssh/id_test"),
    "list the home directory": lambda: os.listdir(home),
    "read a later commit": lambda: read(f"{place}/.git/objects/later"),
    "follow a link that was made before": lambda: read("link-before"),
    "read the baseline": lambda: read(f"{place}/.evalsuite/baselines/x.json"),
    "append to a record": lambda: append(f"{sibling}/result.json"),
    "truncate a record": lambda: os.truncate(f"{sibling}/result.json", 0),
    "rename a record": lambda: os.rename(f"{sibling}/renamed.json", f"{sibling}/renamed-2.json"),
    "remove a record": lambda: os.unlink(f"{sibling}/removed.json"),
    "append to a recording": lambda: append(f"{place}/.evalsuite/cassettes/x.json"),
    "append to the test program": lambda: append(f"{place}/target/debug/evals"),
    "change the settings of cargo": lambda: append(f"{home}/.cargo/config.toml"),
    "write beside the suite": lambda: append(f"{place}/build.rs"),
    "make a hard link to a case": lambda: link(f"{suite}/cases/a/case.yaml"),
    "connect to a port": lambda: connect(socket.AF_INET, ("127.0.0.1", int(env["TCP"]))),
    "send a datagram": send,
    "listen on a port": listen,
    "connect to the socket of an agent": lambda: connect(socket.AF_UNIX, f"{place}/agent.socket"),
    "connect to an abstract socket": lambda: connect(socket.AF_UNIX, "\0" + env["ABSTRACT"]),
    "signal a process": lambda: os.kill(sleeper, 0),
    "trace a process": attach,
    "write to shared memory": lambda: (append(f"/dev/shm/{env['ABSTRACT']}"), os.unlink(f"/dev/shm/{env['ABSTRACT']}")),
}

# It would outlive the trial.
subprocess.Popen(["sleep", "300"], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

with open(sys.argv[1], "w") as answer:
    for name, attempt in ATTEMPTS.items():
        try:
            attempt()
            print(f"reached: {name}", file=answer)
        except OSError as error:
            print(f"refused: {name}: {error.strerror}", file=answer)
