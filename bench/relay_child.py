"""A client that asks by turns: `python -m bench.relay_child N URL...` prints the milliseconds of each way as JSON."""

from __future__ import annotations

import json
import sys
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

_CHARS = 38_000


def main() -> None:
    """Ask, print."""
    n, urls = int(sys.argv[1]), sys.argv[2:]
    text = "# Skill\n" + "Look at every name twice. " * (_CHARS // 26)
    talk = [{"role": "user", "content": "Which of these is a river?"}]
    bodies = {
        "responses": {"model": "m", "stream": True, "instructions": text, "input": talk},
        "messages": {"model": "m", "stream": True, "max_tokens": 100, "system": text, "messages": talk},
    }
    times: list[list[float]] = [[] for _ in urls]
    for number in range(n + 10):
        for way, url in enumerate(urls):
            took = _ask(url, json.dumps(bodies[url.rpartition("/")[2]]).encode())
            if number >= 10:  # what the first ones load is left out
                times[way].append(took)
    print(json.dumps(times))


def _ask(url: str, body: bytes) -> float:
    parts = urlsplit(url)
    started = time.perf_counter()
    connection = HTTPConnection(parts.netloc, timeout=60)
    connection.request("POST", parts.path, body, {"Content-Type": "application/json", "Authorization": "Bearer k"})
    answer = connection.getresponse()
    said = answer.read()
    took = time.perf_counter() - started
    connection.close()
    if answer.status != 200 or b"data:" not in said:
        raise RuntimeError(f"{url}: {answer.status}")
    return 1000 * took


if __name__ == "__main__":
    main()
