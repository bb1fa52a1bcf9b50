"""Reading lists out of the cells of a table."""

from __future__ import annotations

import ast
import io
import tokenize

_LAYOUT = frozenset({tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT})


def texts_in(cell: str) -> tuple[str, ...]:
    """Return the texts of a cell: of a list literal if it begins with `[`, else the cell itself.

    Only a leading `[` makes a list, so that `1,234` stays one text. Nothing is evaluated but literals of texts. Texts
    without a comma between them are texts of their own: arrays are written like that (`['a' 'b']`), and Python itself
    would read one text `ab`. Texts are trimmed, blank ones dropped.

    Raises:
        ValueError: The cell begins with `[` and is no list of texts.
    """
    found = _literals(cell.strip()) if cell.lstrip().startswith("[") else [cell]
    return tuple(text.strip() for text in found if text.strip())


def _literals(cell: str) -> list[str]:
    try:
        tokens = [token for token in tokenize.generate_tokens(io.StringIO(cell).readline) if token.type not in _LAYOUT]
    except (tokenize.TokenError, SyntaxError) as error:
        raise ValueError(str(error.args[0])) from None
    if tokens[-1].string != "]":
        raise ValueError("it does not end with `]`")
    inner = [token for token in tokens[1:-1] if token.string != ","]
    odd = next((token.string for token in inner if token.type != tokenize.STRING), None)
    if odd is not None:
        raise ValueError(f"{odd!r} is no text in quotes")
    return [_text(token.string) for token in inner]


def _text(literal: str) -> str:
    value = ast.literal_eval(literal)
    if not isinstance(value, str):
        raise ValueError(f"{literal} is no text")
    return value
