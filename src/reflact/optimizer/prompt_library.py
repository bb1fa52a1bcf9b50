"""The teacher's prompts: Markdown templates with front matter, which a benchmark may replace by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import jinja2
import yaml
from jinja2 import meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from reflact.core.errors import ConfigError
from reflact.core.hashing import text_digest
from reflact.core.types import Json
from reflact.optimizer.delimiters import Fence

_FENCE_OF_PROMPT = "fence"
_MARK = "---\n"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One template.

    Attributes:
        name: Its name; one that begins with `_` is a part of others.
        version: Raised by hand whenever the text changes its meaning.
        sha256: Hash of the whole file.
        variables: Names that the template may use.
        body: The template without its front matter.
    """

    name: str
    version: str
    sha256: str
    variables: frozenset[str]
    body: str


class PromptLibrary:
    """Renders prompts by name."""

    def __init__(self, prompts: Mapping[str, Prompt]) -> None:
        """Take the prompts; use `load` for the ones that ship with the package."""
        self._prompts = dict(prompts)
        self._environment = ImmutableSandboxedEnvironment(
            loader=jinja2.DictLoader({name: prompt.body for name, prompt in self._prompts.items()}),
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # Markdown for a model, not HTML
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.filters["data"] = _data

    @classmethod
    def load(cls, overrides: Mapping[str, str] | None = None) -> PromptLibrary:
        """Load the package's prompts and replace some of them.

        Args:
            overrides: Whole templates by name (`Benchmark.prompts()`); front matter is optional in them.

        Raises:
            ConfigError: An override has an unknown name, is no valid template or uses an unknown variable.
        """
        prompts = shipped()
        for name, text in (overrides or {}).items():
            if name not in prompts:
                raise ConfigError(f"there is no prompt {name!r} to replace; there are: {', '.join(sorted(prompts))}")
            prompts[name] = _override(prompts[name], text)
        library = cls(prompts)
        for name in overrides or {}:
            library.check(name)
        return library

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all prompts and parts, in order."""
        return tuple(sorted(self._prompts))

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All prompts and parts, in order of their names."""
        return tuple(self._prompts[name] for name in self.names)

    @property
    def hashes(self) -> dict[str, str]:
        """The sha256 of each prompt's file, by name; recorded with every run."""
        return {name: self._prompts[name].sha256 for name in self.names}

    @property
    def versions(self) -> dict[str, str]:
        """The version of each prompt, by name."""
        return {name: self._prompts[name].version for name in self.names}

    def check(self, name: str) -> None:
        """Make sure that a prompt is a template and uses only variables that it will be given.

        Raises:
            ConfigError: It is not, or it does not.
        """
        prompt = self._prompts[name]
        try:
            tree = self._environment.parse(prompt.body)
        except jinja2.TemplateSyntaxError as error:
            raise ConfigError(f"prompt {name!r}, line {error.lineno}: {error.message}") from error
        missing = [part for part in meta.find_referenced_templates(tree) if part not in self._prompts]
        if missing:
            raise ConfigError(f"prompt {name!r} includes {missing}; there are: {', '.join(self.names)}")
        used = meta.find_undeclared_variables(tree)
        unknown = used - prompt.variables - {_FENCE_OF_PROMPT}
        if unknown:
            raise ConfigError(
                f"prompt {name!r} uses {', '.join(sorted(unknown))}; it is given {', '.join(sorted(prompt.variables))}"
            )

    def render(self, name: str, **values: Json) -> str:
        """Return a prompt with its values in place.

        Values are data: nothing in them is read as a template, and the filter `data` delimits them so that they
        cannot end before their end.
        """
        template = self._environment.get_template(name)
        rendered = template.render(**values, **{_FENCE_OF_PROMPT: Fence.around(values)})
        return rendered.strip() + "\n"


def shipped() -> dict[str, Prompt]:
    """Return the prompts that ship with the package, by name."""
    folder = resources.files("reflact.optimizer").joinpath("prompts")
    prompts: dict[str, Prompt] = {}
    for file in folder.iterdir():
        if file.name.endswith(".md"):
            text = file.read_text(encoding="utf-8")
            head, body = _split(text)
            name = head["name"]
            prompts[name] = Prompt(name, str(head["version"]), text_digest(text), frozenset(head["variables"]), body)
    return prompts


def _override(shipped_one: Prompt, text: str) -> Prompt:
    head, body = _split(text)
    version = str(head.get("version", ""))
    return Prompt(shipped_one.name, version, text_digest(text), shipped_one.variables, body)


def _split(text: str) -> tuple[dict[str, Any], str]:
    """Return a file's front matter and the rest."""
    if not text.startswith(_MARK):
        return {}, text
    head, mark, body = text[len(_MARK) :].partition(f"\n{_MARK}")
    if not mark:
        return {}, text
    return yaml.safe_load(head) or {}, body


@jinja2.pass_context
def _data(context: jinja2.runtime.Context, text: str | None, name: str) -> str:
    fence: Fence = context[_FENCE_OF_PROMPT]
    return fence.wrap(text, name)
