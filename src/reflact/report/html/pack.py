"""Data as text that means nothing in HTML: JSON, deflated, in base64.

No answer, skill or file name can end a script element or begin a comment there, since base64 has no `<`. The page
inflates a pack when it is looked at, so a study of a hundred runs opens as fast as one of three.
"""

from __future__ import annotations

import base64
import json
import zlib

from reflact.core.types import Json

_LEVEL = 6


def pack(value: Json) -> str:
    """Return a JSON value as one line of ASCII; equal values give equal text.

    Raises:
        ValueError: The value holds a number that JSON lacks.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), _LEVEL)).decode("ascii")
