"""Speaks a worker's protocol without the engine; the name of a game's folder says how it behaves.

What has to be remembered beyond a process's end is a file beside the game.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

MIB = 1024 * 1024


def main() -> None:
    games: dict[int, tuple[Path, list[str]]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"id": request["id"], "rss": 10 * MIB, "state": None, "error": None}
        if request["do"] == "open":
            games[request["game"]] = (Path(request["path"]), [])
            misbehave("open", Path(request["path"]), [])
            reply["state"] = state(*games[request["game"]], opened=True)
        elif request["do"] == "step":
            path, played = games[request["game"]]
            played.append(request["command"])
            problem = misbehave("step", path, played)
            reply["error"] = problem
            reply["state"] = None if problem else state(path, played)
            if "fat" in path.parent.name:
                reply["rss"] = 900 * MIB
        else:
            games.pop(request["game"], None)
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def state(path: Path, played: list[str], opened: bool = False) -> dict[str, object]:
    text = f"-= Welcome =-\n\nA room.\n\nYour task is to: test {path.parent.name}." if opened else f"seen {len(played)}"
    if played and played[-1] == "dance":
        text = "Nothing happens."
    wrong = "other" in path.parent.name
    return {
        "observation": text,
        "admissible": ["go to desk 1", "help", "look", "win"],
        "won": "win" in played,
        "done": "win" in played,
        "gamefile": ("/elsewhere" if wrong else str(path)) if opened else None,
        "templates": [],
    }


def misbehave(do: str, path: Path, played: list[str]) -> str | None:
    name = path.parent.name
    if do == "open" and "slowopen" in name:
        time.sleep(0.2)
    if do != "step" or played[-1] != "risk":
        return None
    marks = path.parent / "times"
    times = marks.stat().st_size if marks.exists() else 0
    if "always" not in name and times:
        return None
    with marks.open("ab") as file:
        file.write(b".")
    if "die" in name:
        sys.stderr.write("the roof came down\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    if "hang" in name:
        time.sleep(600)
    if "babble" in name:
        sys.stdout.write("You see a duck.\n")
        sys.stdout.flush()
    return "KeyError: 'duck'" if "raise" in name else None


if __name__ == "__main__":
    main()
