"""Keys under `model.`: who the teacher and the student are and how they are reached."""

from __future__ import annotations

from dataclasses import dataclass

from reflact.config.fields import opt

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
AUTH_MODES = ("azure_cli", "managed_identity", "api_key")
# Third-party backends come in through entry points, so these two lists are open: checked when a run starts.
STUDENT_BACKENDS = ("openai_chat", "local", "rehearsal", "codex_exec", "claude_code_exec")
TEACHER_BACKENDS = ("openai_chat", "local", "template", "rehearsal")


@dataclass(slots=True)
class ModelConfig:
    """Models of both roles."""

    teacher: str = opt("gpt-5.5", "Model (or Azure deployment) that reflects, merges, ranks and writes.")
    student: str = opt("gpt-5.5", "Model (or Azure deployment) that does the tasks.")
    teacher_backend: str = opt("openai_chat", "How the teacher is reached.")
    student_backend: str = opt("openai_chat", "How the student is reached; the harness in records.")
    reasoning_effort: str | None = opt(
        "medium", "Reasoning effort of both roles; null sends none.", choices=(None, *EFFORTS)
    )
    teacher_reasoning_effort: str | None = opt(
        None, "The teacher's own effort; null takes `model.reasoning_effort`.", choices=(None, *EFFORTS)
    )
    student_reasoning_effort: str | None = opt(
        None, "The student's own effort; null takes `model.reasoning_effort`.", choices=(None, *EFFORTS)
    )
    teacher_temperature: float | None = opt(None, "Temperature of the teacher; null sends none.", low=0, high=2)
    student_temperature: float | None = opt(None, "Temperature of the student; null sends none.", low=0, high=2)
    teacher_base_url: str = opt("", "An OpenAI-compatible server for the teacher.", free=True)
    student_base_url: str = opt("", "An OpenAI-compatible server for the student.", free=True)
    teacher_api: str = opt(
        "auto",
        "API of the teacher's server; auto asks Chat Completions first.",
        choices=("auto", "chat", "responses"),
    )
    student_api: str = opt(
        "auto",
        "API of the student's server; auto asks Chat Completions first.",
        choices=("auto", "chat", "responses"),
    )
    teacher_api_key_env: str | None = opt(
        None, "Environment variable with the teacher's key; null: the provider's usual one.", free=True
    )
    student_api_key_env: str | None = opt(
        None, "Environment variable with the student's key; null: the provider's usual one.", free=True
    )
    teacher_azure_openai_endpoint: str = opt("", "Azure endpoint of the teacher.", free=True)
    student_azure_openai_endpoint: str = opt("", "Azure endpoint of the student.", free=True)
    teacher_azure_openai_api_version: str = opt("2024-12-01-preview", "Azure API version of the teacher.", free=True)
    student_azure_openai_api_version: str = opt("2024-12-01-preview", "Azure API version of the student.", free=True)
    teacher_azure_openai_auth_mode: str = opt(
        "azure_cli", "How the teacher's calls are authorised on Azure.", choices=AUTH_MODES, free=True
    )
    student_azure_openai_auth_mode: str = opt(
        "azure_cli", "How the student's calls are authorised on Azure.", choices=AUTH_MODES, free=True
    )
    teacher_azure_openai_managed_identity_client_id: str = opt(
        "", "Client id of the teacher's user-assigned identity.", free=True
    )
    student_azure_openai_managed_identity_client_id: str = opt(
        "", "Client id of the student's user-assigned identity.", free=True
    )
    teacher_max_completion_tokens: int = opt(16384, "Cap on tokens of one teacher reply.", low=1)
    teacher_timeout: float = opt(600.0, "Seconds that one attempt of a teacher call may take.", low=0.001, free=True)
    local_path: str = opt(
        "",
        "A GGUF file for the backend `local`; empty: the small model that `reflact local install` brings.",
        path=True,
    )
    exec_relay: bool = opt(
        True, "Let agent CLIs reach the model only through a relay in this process; false is the direct mode."
    )
    exec_max_requests: int = opt(200, "Most requests of an agent for one item, through the relay.", low=1)
    exec_max_tokens: int = opt(4_000_000, "Most tokens of an agent for one item, through the relay.", low=1)
    codex_exec_path: str = opt(
        "", "The Codex CLI; empty: the one on PATH, else the one of `reflact[agents]`.", free=True
    )
    claude_code_exec_path: str = opt(
        "", "The Claude Code CLI; empty: the one on PATH, else the one of `reflact[agents]`.", free=True
    )
    codex_exec_use_sdk: bool | str = opt("auto", "Run Codex through its Python SDK.", choices=("auto", True, False))
    codex_exec_sandbox: str = opt(
        "workspace-write",
        "Codex's own sandbox.",
        choices=("read-only", "workspace-write", "danger-full-access"),
    )
    codex_exec_approval_policy: str = opt(
        "never", "Codex's approval policy.", choices=("untrusted", "on-request", "never")
    )
    codex_exec_reasoning_effort: str = opt("medium", "Reasoning effort of the Codex student.", choices=EFFORTS)
    codex_exec_network_access: bool = opt(
        False, "Let commands of the Codex student use this machine's network, its own services included."
    )
    codex_exec_web_search: bool = opt(False, "Offer the Codex student the web search of the model's service.")
    claude_code_exec_use_sdk: bool | str = opt(
        False, "Run Claude Code through its Python SDK.", choices=("auto", True, False)
    )
    claude_code_exec_network_access: bool = opt(
        False, "Let commands of the Claude Code student use this machine's network, its own services included."
    )
    claude_code_exec_web_search: bool = opt(
        False, "Offer the Claude Code student the web search of the model's service."
    )
    codex_trace_to_teacher: bool = opt(True, "Show the teacher what the Codex student did, shortened.")
    claude_code_trace_to_teacher: bool = opt(True, "Show the teacher what the Claude Code student did, shortened.")
