"""Pictures that are kept until they are needed: packed, since a motion has hundreds of them."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from addnorm.scenes.video import Frame


class Reel:
    """Pictures of one size in turn. One that stays is packed once, and given again as the same object."""

    def __init__(self, pictures: Iterable[Frame] = ()) -> None:
        self._packed: list[bytes] = []
        self._shapes: tuple[tuple[int, ...], ...] = ()
        self._last: Frame | None = None
        for picture in pictures:
            self.append(picture)

    def append(self, picture: Frame) -> None:
        """Add a picture at the end."""
        if picture is self._last:
            self._packed.append(self._packed[-1])
        else:
            self._last, self._shapes = picture, tuple(planes.shape for planes in picture)
            self._packed.append(zlib.compress(b"".join(planes.tobytes() for planes in picture), level=1))

    def __len__(self) -> int:
        return len(self._packed)

    def __iter__(self) -> Iterator[Frame]:
        before: tuple[bytes, Frame] | None = None
        for packed in self._packed:
            if before is None or packed is not before[0]:
                before = packed, self._unpacked(packed)
            yield before[1]

    def _unpacked(self, packed: bytes) -> Frame:
        content: NDArray[np.uint8] = np.frombuffer(zlib.decompress(packed), dtype=np.uint8)
        brightness, colour = self._shapes
        first, rest = np.split(content, [math.prod(brightness)])
        return Frame(first.reshape(brightness), rest.reshape(colour))
