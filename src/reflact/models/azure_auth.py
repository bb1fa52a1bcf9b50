"""Tokens of Azure logins: one source a credential and process, shared by all threads and event loops.

`az` takes seconds, now and then more than ten, and fails when it runs twice at once; so it is started once for
everybody who waits, before the current token ends, and runs of other processes of this machine wait their turn.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from reflact.core.errors import Unavailable
from reflact.models.azure_cli import AzHangs, ask_az

RESOURCE = "https://cognitiveservices.azure.com"
SCOPE = f"{RESOURCE}/.default"
_EARLY_S = 300.0  # a token is renewed that long before its end
_LAST_S = 30.0  # a token with less than that left is not used for a new call
_PAUSES_S = (0.5, 2.0)  # between attempts to get a token
_LOCK_WAIT_S = 60.0
_SILENT_S = 10.0  # until a person is told what is waited for
_PATIENCE_S = 120.0  # the longest that a call waits for a token, whatever its source does


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token; times are seconds since the epoch."""

    value: str = field(repr=False)
    expires_at: float


def _to_stderr(message: str) -> None:
    sys.stderr.write(f"reflact: {message}\n")
    sys.stderr.flush()


class TokenSource:
    """Hands out a current token and renews it in time.

    Args:
        fetch: Gets a new token; blocks. Raises `Unavailable` if trying again is useless.
        hint: What a person can do if no token can be had.
        what: What is asked for a token, for people who wait for it.
        now: Seconds since the epoch.
        pause: Waits between attempts.
        say: Tells a person what is waited for, where that takes long.
        silent_s: Seconds until then.
        patience_s: Seconds that a caller waits at most.
    """

    def __init__(
        self,
        fetch: Callable[[], Token],
        hint: str,
        *,
        what: str = "the login",
        now: Callable[[], float] = time.time,
        pause: Callable[[float], None] = time.sleep,
        say: Callable[[str], None] = _to_stderr,
        silent_s: float = _SILENT_S,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._fetch = fetch
        self._hint = hint
        self._what = what
        self._say = say
        self._silent_s = silent_s
        self._patience_s = patience_s
        self._now = now
        self._pause = pause
        self._lock = threading.Lock()
        self._token: Token | None = None
        self._refused = ""
        self._renew_at = 0.0
        self._flight: Future[str] | None = None

    @property
    def shown(self) -> str:
        """The current token, `""` if there is none: what redaction looks for."""
        token = self._token
        return "" if token is None else token.value

    def get(self) -> str:
        """Return a token; blocks while the first one is fetched.

        Raises:
            Unavailable: There is no login, or it does not answer, with what to do.
        """
        got = self._ready()
        if isinstance(got, str):
            return got
        done, _ = wait([got], self._patience_s)
        return got.result() if done else self._give_up()

    async def aget(self) -> str:
        """Return a token without blocking the event loop; see `get`."""
        got = self._ready()
        if isinstance(got, str):
            return got
        done, _ = await asyncio.wait([asyncio.wrap_future(got)], timeout=self._patience_s)
        return done.pop().result() if done else self._give_up()

    def _give_up(self) -> NoReturn:
        raise Unavailable(f"no Azure token: {self._what} gave none within {self._patience_s:g} s. {self._hint}")

    def refuse(self, value: str) -> bool:
        """Take back a token that a service lets in no more, whatever its end; return whether another may do.

        A token is taken back once: where the login gives the same one again, another attempt is useless.
        """
        with self._lock:
            if value == self._refused:
                return False
            if self._token is not None and self._token.value == value:
                self._refused, self._token = value, None
            return True

    def _ready(self) -> str | Future[str]:
        fresh = self._fresh()
        if fresh is not None:
            return fresh
        with self._lock:
            fresh = self._fresh()
            if fresh is not None:
                return fresh
            token = self._token
            flight = self._flight if self._flight is not None else self._take_off()
        # While it lasts, the old token serves everybody; the new one is fetched beside.
        return flight if token is None or self._ends(token) else token.value

    def _fresh(self) -> str | None:
        token = self._token
        return None if token is None or self._now() >= self._renew_at or self._ends(token) else token.value

    def _ends(self, token: Token) -> bool:
        return self._now() >= token.expires_at - _LAST_S

    def _take_off(self) -> Future[str]:
        flight: Future[str] = Future()
        flight.set_running_or_notify_cancel()  # a caller that gives up does not end it for the others
        self._flight = flight
        threading.Thread(target=self._fly, args=(flight,), name="reflact-token", daemon=True).start()
        return flight

    def _fly(self, flight: Future[str]) -> None:
        telling = threading.Timer(self._silent_s, self._tell)
        telling.daemon = True
        telling.start()
        try:
            token = self._attempts()
        except BaseException as error:  # noqa: BLE001 - handed to everybody who waits
            with self._lock:
                self._flight = None
                self._renew_at = self._now() + _LAST_S  # an old token that still holds is not renewed at every call
            telling.cancel()
            flight.set_exception(error)
            return
        telling.cancel()
        now = self._now()
        with self._lock:
            self._token = token
            lifetime = token.expires_at - now
            self._renew_at = now + max(lifetime - _EARLY_S, lifetime * 0.5)
            self._flight = None
        flight.set_result(token.value)

    def _tell(self) -> None:
        token = self._token
        if token is not None and not self._ends(token):
            return  # nobody waits: the old one serves
        self._say(
            f"{self._what} has given no token for {self._silent_s:g} s; waiting, {self._patience_s:g} s in all at most"
        )

    def _attempts(self) -> Token:
        for pause in (*_PAUSES_S, None):
            try:
                return self._fetch()
            except Unavailable:
                raise
            except Exception as error:  # noqa: BLE001 - the credential classes raise what they like
                if pause is None:
                    said = str(error).strip().splitlines() or [type(error).__name__]
                    raise Unavailable(f"no Azure token: {said[0][:300].rstrip('.')}. {self._hint}") from None
                self._pause(pause)
        raise AssertionError("unreachable")


class TokenSources:
    """The token sources of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sources: dict[tuple[str, str], TokenSource] = {}

    def source(self, auth: str, client_id: str) -> TokenSource:
        """Return the source of a credential (`azure_cli` or `managed_identity`)."""
        with self._lock:
            key = (auth, client_id)
            if key not in self._sources:
                self._sources[key] = _cli_source() if auth == "azure_cli" else _identity_source(client_id)
            return self._sources[key]


# A login belongs to the process, not to a run: several runs in one process must not start `az` one beside another.
PROCESS_TOKENS = TokenSources()


def _cli_source() -> TokenSource:
    def fetch() -> Token:
        program = shutil.which("az")
        if program is None:
            raise Unavailable(
                "the Azure CLI (`az`) is not on the PATH: install it and `az login`, or set the role's "
                "azure_openai_auth_mode to api_key or managed_identity"
            )
        try:
            with _alone(program):
                return Token(*ask_az(program, RESOURCE))
        except AzHangs as error:  # another start would hang as well
            raise Unavailable(f"no Azure token: {error}. Run it by hand to see what it waits for") from None

    hint = "Run `az login` (and `az account set` for the right subscription), then try again"
    return TokenSource(fetch, hint, what="the Azure CLI (`az account get-access-token`)")


def _identity_source(client_id: str) -> TokenSource:
    def fetch() -> Token:
        from azure.identity import ManagedIdentityCredential

        credential = ManagedIdentityCredential(client_id=client_id) if client_id else ManagedIdentityCredential()
        got = credential.get_token(SCOPE)
        return Token(got.token, float(got.expires_on))

    return TokenSource(
        fetch,
        "This machine needs a managed identity with access to the resource; with a user-assigned one, give its "
        "client id in azure_openai_managed_identity_client_id",
        what="the managed identity of this machine",
    )


@contextmanager
def _alone(program: str) -> Iterator[None]:
    """Keep other processes of ours from running `program` meanwhile; a lock that cannot be had does no harm."""
    handle = os.open(program, os.O_RDONLY)
    try:
        give_up = time.monotonic() + _LOCK_WAIT_S
        while time.monotonic() < give_up:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.1)
            except OSError:  # a file system without such locks
                break
        yield
    finally:
        os.close(handle)  # releases the lock
