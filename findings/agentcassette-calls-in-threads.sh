#!/usr/bin/env bash
# In the replay of agentcassette, an agent that calls its tools in threads books for real, and a strict replay passes an agent that leaves out the last call.
#
# Versions: agentcassette 0.2.0 (PyPI), which needs nothing else.
# Behaviour: The description says that during a replay, every wrapped function returns what was recorded and is never called. Whether there is a replay is kept in a
# variable of the thread. In another thread there is none, so the function runs as in production. That is how agents run parallel tool calls, and how
# an async agent runs tools that are not async: a booking is made, and the mail is sent, in a test that is to be offline. While recording, such calls are
# not in the cassette. So a replay finds no difference either, and the strict one, described as a contract for the behaviour, passes. It holds each call
# against the recorded one, and does not look whether calls are left over at the end.
# Guess before the run: a recorded result in each thread, or an error; an error for the call that is left out.
# Seen (a tool that books; real bookings during a strict replay; then a strict replay of find, book and mail without some of them):
#   called directly: 0; by a ThreadPoolExecutor: 2; by asyncio.to_thread: 2; find, book: passes; none at all: passes; book, mail: DivergenceError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check agentcassette==0.2.0

cat >replays.py <<'PY'
import asyncio
from concurrent.futures import ThreadPoolExecutor

from agentcassette import DivergenceError, intercept, record, replay

booked = []


@intercept(kind="tool")
def book(flight):
    booked.append(flight)
    return f"booked {flight}"


@intercept(kind="tool")
def step(name):
    return name


def directly():
    return [book(flight) for flight in ["A1", "B2"]]


def in_a_pool():
    with ThreadPoolExecutor() as pool:
        return list(pool.map(book, ["A1", "B2"]))


def from_async():
    async def run():
        return [await asyncio.to_thread(book, flight) for flight in ["A1", "B2"]]

    return asyncio.run(run())


for name, agent in [("directly", directly), ("ThreadPoolExecutor", in_a_pool), ("asyncio.to_thread", from_async)]:
    with record(f"{name}.json"):
        agent()
    booked.clear()
    with replay(f"{name}.json", strict=True):
        agent()
    print(f"{name}: {len(booked)} booked in the replay")

with record("steps.json"):
    for name in ["find", "book", "mail"]:
        step(name)
for names in [["find", "book"], [], ["book", "mail"]]:
    try:
        with replay("steps.json", strict=True):
            for name in names:
                step(name)
        result = "passes"
    except DivergenceError:
        result = "DivergenceError"
    print(f"{' '.join(names) or 'nothing'}: {result}")
PY
seen=$(python/bin/python replays.py)
expected='directly: 0 booked in the replay
ThreadPoolExecutor: 2 booked in the replay
asyncio.to_thread: 2 booked in the replay
find book: passes
nothing: passes
book mail: DivergenceError'
echo "$seen"
[ "$seen" = "$expected" ]
