from __future__ import annotations

import pytest

from reflact.config.schema import Config
from reflact.core.names import Role
from reflact.models import sdk
from reflact.models.openai_chat import connect
from reflact.models.protocol import ChatModel
from reflact.testing import HttpChatModelConformance, ScriptedServer


class TestChatCompletions(HttpChatModelConformance):
    def connect(self, server: ScriptedServer, key: str) -> ChatModel:
        config = Config()
        config.model.student_base_url = server.base_url
        return connect(config, Role.STUDENT, environ={"OPENAI_API_KEY": key})


class TestWithoutAiohttp(TestChatCompletions):
    @pytest.fixture(autouse=True)
    def own_transport(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the SDK use the transport that it brings along."""
        monkeypatch.setattr(sdk, "_http", lambda: None)


class TestResponses(HttpChatModelConformance):
    def connect(self, server: ScriptedServer, key: str) -> ChatModel:
        config = Config()
        config.model.teacher_base_url = server.base_url
        config.model.teacher_api = "responses"
        return connect(config, Role.TEACHER, environ={"OPENAI_API_KEY": key})


class TestAzure(HttpChatModelConformance):
    def connect(self, server: ScriptedServer, key: str) -> ChatModel:
        config = Config()
        config.model.student_azure_openai_endpoint = server.azure_endpoint
        config.model.student_azure_openai_auth_mode = "api_key"
        return connect(config, Role.STUDENT, environ={"AZURE_OPENAI_API_KEY": key})
