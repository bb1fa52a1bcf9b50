"""Messages for failures that every call of a run would share."""

from __future__ import annotations

from reflact.core.errors import Unavailable
from reflact.core.names import Role
from reflact.models.protocol import CallError, Failure, ModelInfo


def unavailable(role: Role, info: ModelInfo, error: CallError) -> Unavailable:
    """Name who cannot be reached, what was said, and what to do."""
    where = f" at {info.endpoint}" if info.endpoint else ""
    status = f" ({error.status})" if error.status is not None else ""
    said = {
        Failure.AUTH: "refused the credential",
        Failure.NOT_FOUND: "does not exist, or not under this address",
        Failure.QUOTA: "has no quota left",
    }[error.failure]
    reply = str(error).rstrip(".")
    return Unavailable(
        f"the {role}'s model {info.model}{where} {said}{status}: {reply}. {_hint(role, info, error.failure)}"
    )


def key_variable(backend: str) -> str:
    """Return the variable in which a backend usually finds its key, but for Azure."""
    return "ANTHROPIC_API_KEY" if backend == "claude_code_exec" else "OPENAI_API_KEY"


def _hint(role: Role, info: ModelInfo, failure: Failure) -> str:
    if failure is Failure.AUTH:
        usual = key_variable(info.backend)
        return (
            f"Check the key (in the variable {usual}, on Azure AZURE_OPENAI_API_KEY, or another one that "
            f"model.{role}_api_key_env names) or, on Azure, the login that model.{role}_azure_openai_auth_mode uses "
            "and its role on the resource; then go on with run.resume=true"
        )
    if failure is Failure.NOT_FOUND:
        return (
            f"Check model.{role} (on Azure: the deployment's name), the endpoint and, on Azure, "
            f"model.{role}_azure_openai_api_version; then go on with run.resume=true"
        )
    return "Raise the quota or pay the bill, then go on with run.resume=true"
