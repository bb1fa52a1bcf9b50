"""One image: is it usable, and its bytes as they are sent."""

from __future__ import annotations

import hashlib
import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reflact.core.errors import Unavailable
from reflact.models.protocol import Image

if TYPE_CHECKING:
    from PIL import Image as pil

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
"""What models take; no other decoder ever sees a file."""
MOST_BYTES = 64 * 1024 * 1024
MOST_PIXELS = 1024 * 1024 * 1024 // 4 // 3
"""A quarter of a GiB in colour, from where Pillow too warns of a decompression bomb."""
_KEPT_MODES = frozenset({"L", "LA", "RGB", "RGBA"})


class ImageProblem(Exception):
    """An image that cannot be used; the message names the file and says why."""


@dataclass(frozen=True, slots=True)
class SentImage:
    """An image as it is sent; the row keeps what it was."""

    image: Image

    def record(self) -> dict[str, str | int]:
        """Return type and size, which show in every row that an image was in its request."""
        return {"media_type": self.image.media_type, "bytes": len(self.image.data)}


def require_pillow() -> None:
    """Import Pillow.

    Raises:
        Unavailable: It is not installed.
    """
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise Unavailable("DocVQA opens images with Pillow: pip install 'reflact[docvqa]'") from None


def check_image(path: Path) -> str:
    """Open an image and return the sha256 of its file.

    Pillow verifies it: of a PNG all checksums, without unpacking a pixel. Since it has nothing to verify in a JPEG,
    that is decoded at an eighth of its size.

    Raises:
        ImageProblem: It cannot be read, is of another format, broken, cut, or a decompression bomb.
    """
    from PIL import Image as pil
    from PIL import UnidentifiedImageError

    data = _read(path)
    try:
        with pil.open(io.BytesIO(data), formats=FORMATS) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise ImageProblem(f"{path}: {width} x {height} pixels are more than {MOST_PIXELS}")
            if picture.format == "JPEG":
                picture.draft(None, (max(1, width // 8), max(1, height // 8)))
                picture.load()
            else:
                picture.verify()
    except ImageProblem:
        raise
    except UnidentifiedImageError:
        raise ImageProblem(f"{path}: not a PNG, JPEG, GIF or WebP image") from None
    except pil.DecompressionBombError:
        raise ImageProblem(f"{path}: a decompression bomb: more than {2 * MOST_PIXELS} pixels") from None
    except Exception as error:
        # Decoders raise whatever they stumble over: syntax, struct and value errors too. It is this file in any case.
        raise ImageProblem(f"{path}: a broken image: {type(error).__name__}: {error}") from error
    return hashlib.sha256(data).hexdigest()


def load_image(path: Path, sha256: str, max_pixels: int) -> SentImage:
    """Return an image as it is sent: the file's own bytes, or a smaller PNG if it has more than `max_pixels`.

    Args:
        path: The file.
        sha256: What `check_image` gave for it.
        max_pixels: Most pixels; 0 sends every image as it is.

    Raises:
        ImageProblem: It cannot be read any more, or is not what it was.
    """
    data = _read(path)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ImageProblem(f"{path}: the file has changed since it was checked")
    if max_pixels:
        data = shrink(data, max_pixels)
    kind = media_type(data)
    if kind is None:
        raise ImageProblem(f"{path}: not a PNG, JPEG, GIF or WebP image")
    return SentImage(Image(kind, data))


def media_type(data: bytes) -> str | None:
    """Return the MIME type that the first bytes show, whatever a file is called; None for other formats."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def shrink(data: bytes, most: int) -> bytes:
    """Return the image as a PNG of at most `most` pixels with the same proportions; unchanged if it has no more."""
    from PIL import Image as pil
    from PIL import ImageOps

    with pil.open(io.BytesIO(data), formats=FORMATS) as picture:
        if picture.width * picture.height <= most:
            return data
        # The tag that says how a photo lies is not written again, so it is carried out.
        upright = ImageOps.exif_transpose(picture)
        small = _with_greys(upright).resize(_fitting(*upright.size, most), pil.Resampling.LANCZOS)
    out = io.BytesIO()
    small.save(out, "PNG")
    return out.getvalue()


def _fitting(width: int, height: int, most: int) -> tuple[int, int]:
    scale = math.sqrt(most / (width * height))
    fit = min(max(1, int(width * scale)), most)
    # Of a strip that is one pixel wide, the other side alone has to keep the limit.
    return fit, max(1, min(int(height * scale), most // fit))


def _with_greys(picture: pil.Image) -> pil.Image:
    """Return the picture in a mode in which shades between two pixels exist: black and white or a palette has none."""
    if picture.mode in _KEPT_MODES:
        return picture
    if picture.mode.startswith("I"):  # 16 bits a pixel
        return picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if picture.mode == "1":
        return picture.convert("L")
    return picture.convert("RGBA" if picture.has_transparency_data else "RGB")


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise ImageProblem(f"{path}: {size} bytes are more than {MOST_BYTES}")
        return path.read_bytes()
    except OSError as error:
        raise ImageProblem(f"{path}: cannot be read: {error.strerror}") from None
