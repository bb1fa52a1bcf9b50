from __future__ import annotations

import hashlib
import io
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from reflact.benchmarks.docvqa import images
from reflact.benchmarks.docvqa.images import ImageProblem, check_image, load_image, media_type, shrink

from .support import picture

KINDS = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}


def put(folder: Path, data: bytes, name: str = "x.png") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def png_of_size(width: int, height: int) -> bytes:
    """A PNG whose header claims a size and whose data are next to nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", KINDS)
def test_the_type_is_that_of_the_content(tmp_path: Path, kind: str) -> None:
    data = picture(kind)
    place = put(tmp_path, data, "x.tiff")
    sha256 = check_image(place)
    assert sha256 == hashlib.sha256(data).hexdigest()
    sent = load_image(place, sha256, 0)
    assert (sent.image.media_type, sent.image.data) == (KINDS[kind], data)
    assert sent.record() == {"media_type": KINDS[kind], "bytes": len(data)}


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_cut_image_is_broken(tmp_path: Path, kind: str) -> None:
    data = picture(kind, size=(64, 64))
    with pytest.raises(ImageProblem, match=r"x\.png: a broken image: "):
        check_image(put(tmp_path, data[: len(data) - 40]))


def test_a_flipped_byte_is_found(tmp_path: Path) -> None:
    data = bytearray(picture(size=(64, 64)))
    data[data.index(b"IDAT") + 6] ^= 1
    with pytest.raises(ImageProblem, match="a broken image"):
        check_image(put(tmp_path, bytes(data)))


@pytest.mark.parametrize("data", [b"", b"<html>404</html>", picture("TIFF"), picture("BMP"), b"\x89PNG\r\n\x1a\n"])
def test_other_files_are_no_images(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ImageProblem, match=r"x\.png: (not a PNG, JPEG, GIF or WebP image|a broken image)"):
        check_image(put(tmp_path, data))


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("size", [(10_000, 10_000), (50_000, 50_000), (2_000_000, 60)])
def test_a_decompression_bomb_is_an_error_that_names_the_file(tmp_path: Path, size: tuple[int, int]) -> None:
    with pytest.raises(ImageProblem, match=r"x\.png: .* pixels"):
        check_image(put(tmp_path, png_of_size(*size)))


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MOST_BYTES", 10)
    with pytest.raises(ImageProblem, match="bytes are more than 10"):
        check_image(put(tmp_path, picture()))


def test_a_file_that_went_away_or_changed_is_not_sent(tmp_path: Path) -> None:
    place = put(tmp_path, picture())
    sha256 = check_image(place)
    place.write_bytes(picture(shade=3))
    with pytest.raises(ImageProblem, match="changed since it was checked"):
        load_image(place, sha256, 0)
    place.unlink()
    with pytest.raises(ImageProblem, match="cannot be read: No such file"):
        load_image(place, sha256, 0)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 5000))
def test_no_image_is_larger_than_asked(width: int, height: int, most: int) -> None:
    data = picture(size=(width, height), mode="1", shade=1)
    small = shrink(data, most)
    if width * height <= most:
        assert small is data
        return
    with opened(small) as picture_now:
        assert picture_now.width * picture_now.height <= most
        # Proportions stay within the rounding of one pixel a side.
        if min(picture_now.size) > 20:
            assert picture_now.width / picture_now.height == pytest.approx(width / height, rel=0.12)


@pytest.mark.parametrize(
    ("mode", "after"),
    [("1", "L"), ("L", "L"), ("P", "RGB"), ("RGB", "RGB"), ("RGBA", "RGBA"), ("LA", "LA"), ("I;16", "L")],
)
def test_every_mode_can_be_made_smaller(mode: str, after: str) -> None:
    with opened(shrink(picture(size=(40, 40), mode=mode, shade=1), 100)) as small:
        assert (small.format, small.mode, small.size) == ("PNG", after, (10, 10))


def test_sixteen_bits_keep_their_greys() -> None:
    with opened(shrink(picture(size=(40, 40), mode="I;16", shade=128 * 256), 100)) as small:
        assert small.getpixel((5, 5)) == pytest.approx(128, abs=1)


def test_a_photo_lies_as_it_is_meant_to_be_seen() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    with opened(shrink(picture("JPEG", size=(80, 40), exif=exif), 800)) as small:
        assert small.size == (20, 40)


def test_unknown_bytes_have_no_type() -> None:
    assert media_type(b"") is None
    assert media_type(b"RIFF\0\0\0\0WAVE") is None
