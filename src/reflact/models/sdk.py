"""The OpenAI SDK as one method: post a body, get status, headers and bytes back.

Only this module imports the SDK, which takes half a second, so it is itself imported when a client is made. The SDK
opens connections, authorises and addresses deployments; its models and retries are left aside: reading a reply with
`json` instead of validating it saves more than half of the CPU time of a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

import openai

from reflact.models.azure_auth import TokenSource
from reflact.models.endpoints import Endpoint
from reflact.models.protocol import CallError, Failure
from reflact.models.turnstile import Turnstile

_CONNECT_S = 15.0  # a host that takes no connection in this time will not answer at all
# The SDK's own switch (`with_raw_response`) for handing the reply over unread.
_RAW = {"X-Stainless-Raw-Response": "true"}
# Both transports report a connection that could not be had (or was lost before the reply) as these.
_NO_CONNECTION = frozenset({"ConnectTimeout", "PoolTimeout"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whatever the status."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class _Raw(Protocol):
    status_code: int
    headers: Mapping[str, str]
    content: bytes


class SdkTransport:
    """One client and connection pool; belongs to the event loop that uses it first."""

    def __init__(self, endpoint: Endpoint, source: TokenSource | None) -> None:
        self._client = _client(endpoint, source)
        self._source = source
        # One for requests and one for replies: whoever is let through with a reply finds the way out free.
        self._leaving, self._arriving = Turnstile(), Turnstile()

    async def post(self, path: str, body: Mapping[str, Any], timeout_s: float) -> Answer:
        """Send one request.

        Raises:
            CallError: `CONNECTION` or `NO_ANSWER`; every status that the server gave is an answer.
        """
        used = "" if self._source is None else self._source.shown
        answer = await self._once(path, body, timeout_s)
        # A token may end before its time; one that is let in no more says nothing about the login.
        if answer.status == 401 and self._source is not None and self._source.refuse(used):
            return await self._once(path, body, timeout_s)
        return answer

    async def _once(self, path: str, body: Mapping[str, Any], timeout_s: float) -> Answer:
        timeout = openai.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s))
        failed: CallError
        await self._leaving.enter()
        try:
            # `Any`, not the SDK's model of a reply: with the raw switch it hands back an unread response.
            raw = cast(
                _Raw,
                await self._client.post(
                    path, cast_to=cast(Any, object), body=body, options={"headers": _RAW, "timeout": timeout}
                ),
            )
            await self._arriving.enter()
            return Answer(raw.status_code, raw.headers, raw.content)
        except openai.APIStatusError as error:
            response = error.response
            return Answer(error.status_code, response.headers, response.content)
        except openai.APITimeoutError as error:
            failed = _timeout(error, timeout_s)
        except openai.APIConnectionError as error:
            failed = CallError(Failure.CONNECTION, _reason(error))
        # Raised outside of the handler: the SDK's exceptions hold the request, and with it the credential.
        raise failed

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


def _timeout(error: openai.APITimeoutError, timeout_s: float) -> CallError:
    if type(error.__cause__).__name__ in _NO_CONNECTION:
        return CallError(Failure.CONNECTION, _reason(error))
    return CallError(Failure.NO_ANSWER, f"no answer within {timeout_s:.4g} s")


def _reason(error: Exception) -> str:
    # The cause's class is left out where its text says something: aiohttp's transport calls a refusal a timeout.
    cause = error.__cause__ or error
    return f"no connection: {str(cause) or type(cause).__name__}"


def _client(endpoint: Endpoint, source: TokenSource | None) -> openai.AsyncOpenAI:
    token = None if source is None else source.aget
    if not endpoint.azure:
        key = endpoint.key if token is None else token
        return openai.AsyncOpenAI(base_url=endpoint.url, api_key=key, max_retries=0, http_client=_http())
    credential = {"api_key": endpoint.key} if token is None else {"azure_ad_token_provider": token}
    return openai.AsyncAzureOpenAI(
        azure_endpoint=endpoint.url,
        api_version=endpoint.api_version,
        max_retries=0,
        http_client=_http(),
        **cast(Any, credential),
    )


def _http() -> Any:
    """Take the aiohttp transport where it is installed: half the CPU time of a call."""
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        return None
    return openai.DefaultAioHttpClient()
