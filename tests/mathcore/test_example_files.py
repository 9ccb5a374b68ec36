"""Example files as people, other programs and fuzzers write them."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from addnorm.mathcore import Example, ExampleError, GivenOutput, load_example, run

TOML = """\
id = "small"
token = 2
tokens = ["a", "b"]
[input]
x = [[1, 0.5], [0, 1e3]]
[attention]
output = [[1, 2], [3, 4]]
[layer_norm]
eps = 1e-12
"""
X = np.array([[1.0, 0.5, -2.0], [0.0, 1e3, 0.1]])


def refusal(path: Path) -> str:
    with pytest.raises(ExampleError) as caught:
        load_example(path)
    message = str(caught.value)
    assert message.isprintable()
    assert message.startswith(f"{path.parent}")
    return message.removeprefix(f"{path.parent}/")


def refusal_and_memory(path: Path) -> tuple[str, int]:
    """The message, and how many bytes were held at most while it came about."""
    tracemalloc.start()
    message = refusal(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return message, peak


def written(folder: Path, content: str | bytes, name: str = "e.toml") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def saved(folder: Path, name: str = "e.npz", **arrays: Any) -> Path:
    np.savez(folder / name, **({"x": X, "O": X} | arrays))
    return folder / name


def test_toml(tmp_path: Path) -> None:
    loaded = load_example(written(tmp_path, TOML))
    assert loaded.x.tolist() == [[1, 0.5], [0, 1000]]
    assert (loaded.id, loaded.followed, loaded.tokens, loaded.eps) == ("small", 1, ("a", "b"), 1e-12)
    assert loaded.source == str(tmp_path / "e.toml")


def test_the_bundled_example(r44: Example) -> None:
    assert (r44.id, r44.norm, r44.mask, r44.followed, r44.n_heads) == ("r44", "post", "none", 0, 2)
    assert (r44.title, r44.captions) == ({}, {})


def test_npz(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        "layer 0 (cat).npz",
        x=X.astype(np.float32),
        O=np.asfortranarray(X),
        gamma=np.ones(3, dtype=np.float16),
        beta=np.arange(3),
        eps=1e-12,
        tokens=np.array(["[CLS]", "猫"]),
        token=2,
    )
    loaded = load_example(path)
    assert loaded.id == "layer-0-cat"
    assert (loaded.eps, loaded.followed, loaded.tokens) == (1e-12, 1, ("[CLS]", "猫"))
    assert loaded.beta.tolist() == [0, 1, 2]
    assert isinstance(loaded.attention, GivenOutput)
    np.testing.assert_array_equal(loaded.attention.output, X)
    np.testing.assert_array_equal(loaded.x, X.astype(np.float32))
    assert loaded.dtypes == {"resid_pre": "float32", "gamma": "float16", "beta": "int64"}


def test_npz_with_the_least(tmp_path: Path) -> None:
    loaded = load_example(saved(tmp_path))
    assert (loaded.eps, loaded.followed, loaded.tokens, loaded.dtype) == (
        1e-5,
        0,
        ("token 1", "token 2"),
        "float64",
    )
    assert (loaded.gamma.tolist(), loaded.beta.tolist()) == ([1] * 3, [0] * 3)


def test_compressed_and_foreign_byte_order(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "e.npz", x=X.astype(">f8"), O=X.astype(">f4"))
    loaded = load_example(tmp_path / "e.npz")
    np.testing.assert_array_equal(loaded.x, X)
    assert loaded.dtypes == {"attn_out": "float32"}


BESIDE = """\
id = "both"
arrays = "layer.npz"
norm = "pre"
[captions.en]
b2 = "μ = {ln.mean[0]}"
"""


def test_toml_with_arrays_beside_it(tmp_path: Path) -> None:
    saved(tmp_path, "layer.npz", eps=1e-12, tokens=np.array(["a", "b"]), token=2)
    loaded = load_example(written(tmp_path, BESIDE))
    assert (loaded.id, loaded.norm, loaded.eps, loaded.tokens, loaded.followed) == (
        "both",
        "pre",
        1e-12,
        ("a", "b"),
        1,
    )
    np.testing.assert_array_equal(loaded.x, X)


def test_a_linked_example_finds_its_arrays(tmp_path: Path) -> None:
    (links := tmp_path / "links").mkdir()
    saved(tmp_path, "layer.npz", eps=1e-12, tokens=np.array(["a", "b"]), token=2)
    for file in (written(tmp_path, BESIDE), tmp_path / "layer.npz"):
        (links / file.name).symlink_to(file)
        linked = links / file.name
    [example] = links.glob("*.toml")
    assert linked.is_symlink()
    np.testing.assert_array_equal(load_example(example).x, X)


def test_the_toml_may_follow_another_token(tmp_path: Path) -> None:
    saved(tmp_path, "layer.npz", token=2)
    assert load_example(written(tmp_path, f"token = 1\n{BESIDE}")).followed == 0


def test_x_from_a_file_and_weights_from_the_toml(tmp_path: Path) -> None:
    np.savez(tmp_path / "layer.npz", x=X)
    weights = 'w_q = "identity"\nw_k = "identity"\nw_v = "identity"\nw_o = "identity"\n'
    loaded = load_example(written(tmp_path, f"{BESIDE}[attention]\nheads = 3\n{weights}"))
    assert loaded.n_heads == 3


def test_what_stands_in_both_files_is_refused(tmp_path: Path) -> None:
    saved(tmp_path, "layer.npz", eps=1e-12)
    message = refusal(written(tmp_path, f"{BESIDE}[layer_norm]\neps = 1e-12\n"))
    assert message == "e.toml: layer_norm.eps: given here and in layer.npz; keep one of the two"


@pytest.mark.parametrize(
    "name",
    [
        "../layer.npz",
        "/layer.npz",
        "sub/../../layer.npz",
        "link.npz",
        "layer.npy",
        "",
        "a\\u0000.npz",
        ".",
    ],
)
def test_arrays_do_not_leave_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    saved(tmp_path, "layer.npz")
    (folder / "link.npz").symlink_to(tmp_path / "layer.npz")
    message = refusal(written(folder, f'id = "a"\narrays = "{name}"\n'))
    assert message.startswith("e.toml: arrays: ")
    assert message.endswith("; the name of an .npz file in the example's own folder")


def test_arrays_may_lie_in_a_folder_below(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    saved(tmp_path / "data", "layer.npz")
    load_example(written(tmp_path, 'id = "a"\narrays = "data/layer.npz"\n'))


DEEP = ".".join("x" * 14)
HUGE = "0x" + "f" * 5000
NOT_FINITE = "at token 1, feature 2; every entry must be a finite number"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "file: not UTF-8 at byte 1; save it as UTF-8"),
        (TOML.replace("small", "klein ä").encode("latin-1"), "file: not UTF-8 at byte 13; save it as UTF-8"),
        ("id = ", "TOML: Invalid value (at end of document); see toml.io for how it is written"),
        ("id = 'a'\nid = 'b'", "TOML: Cannot overwrite a value (at end of document); "),
        ("", "id: missing; this field is needed"),
        (f"x = {'[' * 10000}{']' * 10000}", "TOML: brackets nested too deep; arrays of at most three levels"),
        (f'id = "a"\ninput.{DEEP} = 1', "input.x: a table; a list with an entry for each token"),
        (f"token = {'9' * 5000}", "TOML: a whole number of more than 4300 digits; whole numbers up to 2^53"),
        (
            f"{TOML}gamma = [1e-400, 1]",
            "layer_norm.gamma: the number 1e-400 at feature 1, which float64 does not tell from 0; 0, or at least ",
        ),
        (TOML.replace("1e-12", "-0.0_1e-400"), "layer_norm.eps: the number -0.0_1e-400, which float64 "),
        (TOML.replace("token = 2", "token = 1e-400"), "token: the number 0.0; a whole number"),
        (TOML.replace("token = 2", f"token = {HUGE}"), "token: a whole number of 20000 bits; a whole number"),
        (
            TOML.replace("0.5", HUGE),
            "input.x: a whole number of 20000 bits at token 1, feature 2, beyond 2^53; ",
        ),
        ("id = 1979-05-27", "id: a date; a text in quotes"),
        (TOML.replace("0.5", "nan"), f"input.x: nan {NOT_FINITE}"),
        (TOML.replace("0.5", "-inf"), f"input.x: -inf {NOT_FINITE}"),
        (TOML.replace("0.5", "1e999"), f"input.x: inf {NOT_FINITE}"),
        (TOML + "[dtypes]\neps = 'float32'", "dtypes: unknown key; "),
        (TOML.replace("token = 2", "token = 9"), "token: token 9 of 2; 1 to 2"),
    ],
)
def test_wrong_toml(tmp_path: Path, content: str | bytes, message: str) -> None:
    assert refusal(written(tmp_path, content)).startswith(f"e.toml: {message}")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    assert load_example(written(tmp_path, f"\ufeff{TOML}")).id == "small"


def test_a_zero_may_be_written_with_an_exponent(tmp_path: Path) -> None:
    assert load_example(written(tmp_path, TOML.replace("1e-12", "0.0e-400"))).eps == 0


KEYS_DEEP = "a key of more than 15 parts; captions.en.b2 has the most, 3"
MANY = 20_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (".".join("x" * MANY) + " = 1", KEYS_DEEP),
        (f"a = {{ {'x .'.join([' '] * 17)} x = 1 }}", KEYS_DEEP),
        (f"[{'.'.join(['x'] * 20000)}]", KEYS_DEEP),
        ('"\\"".' * 16 + "x = 1", KEYS_DEEP),
        ("'a b'\t.\t" * 16 + "x = 1", KEYS_DEEP),
        ("\n".join(f"[a{n}]" for n in range(30000)), "30000 lines that begin with [; at most 20000"),
        ("\n".join(f"k{n}=1" for n in range(30000)), "30000 signs =; at most 20000"),
        (f"{TOML}x = [{'1,' * (2**20 + 1)}]", "1048584 commas; at most 1048576; "),
    ],
)
def test_what_takes_too_long_to_read_is_refused_before(tmp_path: Path, content: str, message: str) -> None:
    assert refusal(written(tmp_path, content)).startswith(f"e.toml: TOML: {message}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TOML.replace('["a", "b"]', f"[{'0,' * MANY}]"), "tokens: a list of 20000; at most 4096"),
        (TOML.replace("[[1, 0.5], [0, 1e3]]", f"[{'[1],' * MANY}]"), "input.x: a list of 20000; at most 4096 "),
        (TOML.replace("[1, 0.5]", f"[{'1,' * MANY}]"), "input.x: a list of 20000 at token 1; at most 16384 "),
    ],
)
def test_long_lists_are_refused_unread(tmp_path: Path, content: str, message: str) -> None:
    assert refusal(written(tmp_path, content)).startswith(f"e.toml: {message}")


@pytest.mark.parametrize("filler", ["W", '"', "'", '\\"', "'\"", "a.", "[", "{", "#", " ", "=", "a . "])
def test_the_limits_are_looked_for_in_linear_time(tmp_path: Path, filler: str) -> None:
    """Each of these would take hours if every place of the text were the start of a search through the rest."""
    refusal(written(tmp_path, f'id = "{filler * (2**20 // len(filler))}'))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.toml") == "none.toml: file: No such file or directory; a file to read"
    assert refusal(tmp_path / "none.npz").startswith(
        "none.npz: NPZ: cannot be read (No such file or directory); "
    )
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "folder.npz").mkdir()
    assert refusal(tmp_path / "folder.toml") == "folder.toml: file: not a file; the path of an example"
    assert refusal(tmp_path / "folder.npz") == "folder.npz: NPZ: not a file; a file written by numpy.savez"
    assert (
        refusal(tmp_path / "e.json") == 'e.json: file name: "e.json"; an example is a .toml or an .npz file'
    )
    with pytest.raises(ExampleError, match="embedded null"):
        load_example(tmp_path / "a\0.toml")
    with pytest.raises(ExampleError, match="embedded null"):
        load_example(tmp_path / "a\0.npz")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    os.mkfifo(tmp_path / "pipe.npz")
    assert refusal(tmp_path / "pipe.toml") == "pipe.toml: file: not a file; the path of an example"
    assert refusal(tmp_path / "pipe.npz") == "pipe.npz: NPZ: not a file; a file written by numpy.savez"


def test_a_toml_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big.toml").open("wb") as file:
        file.truncate(2**33)
    assert refusal(tmp_path / "big.toml").startswith("big.toml: file: 8589934592 bytes; at most 16777216; ")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": X[:1]}, "O: shape (2, 3) beside x of shape (1, 3); both must be the same tokens × features"),
        (
            {"O": X[:, :1]},
            "O: shape (2, 1) beside x of shape (2, 3); both must be the same tokens × features",
        ),
        ({"O": X[0]}, "O: shape (3,); tokens × features"),
        ({"x": X[:0]}, "x: shape (0, 3); tokens × features"),
        (
            {"x": np.array([[1, np.nan, 0], [0, 0, 0]])},
            "x: nan at token 1, feature 2; every entry must be a finite number",
        ),
        (
            {"O": np.full((2, 3), -np.inf, np.float16)},
            "O: -inf at token 1, feature 1; every entry must be a finite number",
        ),
        (
            {"gamma": np.ones(4)},
            "gamma: shape (4,) beside x of shape (2, 3); shape (3,), a number for each feature",
        ),
        ({"gamma": np.array([1, np.nan, 1])}, "gamma: nan at feature 2; "),
        ({"eps": np.ones(1)}, "eps: shape (1,); a single number, of shape ()"),
        ({"eps": -1.0}, "eps: -1.0; a finite number, 0 or above"),
        ({"eps": True}, "eps: an array of bool; numbers: float16, float32, float64 or integers"),
        ({"x": X.astype(complex)}, "x: an array of complex128; numbers: "),
        ({"x": X.astype(np.longdouble)}, "x: an array of longdouble; numbers: "),
        ({"x": X > 0}, "x: an array of bool; numbers: "),
        ({"x": X.astype(str)}, "x: an array of str1024; numbers: "),
        (
            {"x": np.full((2, 3), 2**60)},
            "x: an integer beyond 2^53, which float64 does not hold; an array of float64",
        ),
        ({"x": np.full((2, 3), 2**64 - 1, np.uint64)}, "x: an integer beyond 2^53, "),
        ({"x": np.full((2, 3), -(2**63))}, "x: an integer beyond 2^53, "),
        ({"x": X.astype(object)}, "x: an object array; numbers of one type, and tokens as an array of str"),
        ({"tokens": np.array(["a", "b"], dtype=object)}, "tokens: an object array; "),
        (
            {"x": np.zeros((2, 3), dtype=[("a", "f4")])},
            "x: not a plain array; an array of one type, numbers or text",
        ),
        ({"tokens": np.array([b"a", b"b"])}, "tokens: an array of bytes8; an array of str"),
        (
            {"tokens": np.array(["a"])},
            "tokens: 1 label beside x of shape (2, 3); 2 labels, one for each token",
        ),
        ({"tokens": np.array(["a", "b" * 201])}, "tokens: labels of up to 201 characters; at most 200"),
        ({"tokens": np.array(["a", "\ud800"])}, 'tokens: "\\ud800" holds half a character; text in Unicode'),
        ({"tokens": np.array([["a"], ["b"]])}, "tokens: shape (2, 1); tokens"),
        ({"token": 3}, "token: token 3 of 2; 1 to 2"),
        ({"token": 1.0}, "token: the number 1.0; a whole number"),
        ({"token": True}, "token: the boolean true; a whole number"),
        ({"token": np.array([1])}, "token: shape (1,); a single number, of shape ()"),
        ({"Gamma": np.ones(3)}, 'Gamma: unknown array; did you mean "gamma"?'),
        ({"w_q": np.eye(3)}, "w_q: unknown array; known here: O, beta, eps, gamma, token, tokens, x"),
    ],
)
def test_wrong_npz(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    found = refusal(saved(tmp_path, **arrays))
    assert found.replace("float128", "longdouble").startswith(f"e.npz: {message}")


@pytest.mark.parametrize("name", ["x", "O"])
def test_an_npz_alone_needs_both(tmp_path: Path, name: str) -> None:
    np.savez(tmp_path / "e.npz", **{name: X})  # type: ignore[arg-type]
    other = "O" if name == "x" else "x"
    assert (
        refusal(tmp_path / "e.npz")
        == f"e.npz: {other}: missing; an NPZ alone needs x and O, both tokens × features"
    )


def test_errors_in_the_arrays_name_the_npz_and_others_the_toml(tmp_path: Path) -> None:
    saved(tmp_path, "layer.npz", gamma=np.ones(2))
    assert refusal(written(tmp_path, BESIDE)).startswith("layer.npz: gamma: shape (2,)")
    saved(tmp_path, "layer.npz", token=7)
    assert refusal(written(tmp_path, BESIDE)).startswith("layer.npz: token: token 7 of 2")
    assert refusal(written(tmp_path, f"token = 9\n{BESIDE}")).startswith("e.toml: token: token 9 of 2")
    np.savez(tmp_path / "layer.npz", O=X)
    assert refusal(written(tmp_path, BESIDE)) == "e.toml: input.x: missing; this field is needed"
    assert refusal(written(tmp_path, f"input = 3\n{BESIDE}")).startswith(
        "e.toml: input: the number 3; a table"
    )


def npy(header: str, data: bytes = b"", version: int = 1) -> bytes:
    """An array file with any header."""
    text = header.encode("latin-1") + b"\n"
    return (
        b"\x93NUMPY"
        + bytes([version, 0])
        + struct.pack("<H" if version == 1 else "<I", len(text))
        + text
        + data
    )


def zipped(folder: Path, entries: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(folder / "e.npz", "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return folder / "e.npz"


def header_of(shape: str, descr: str = "'<f8'", order: str = "False") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy(header_of("(4096, 305175)")), "x: shape (4096, 305175); at most 4096 tokens × 16384 features"),
        (
            npy(header_of("(2, 3)"), bytes(40)),
            "x: a header that claims 48 bytes where the archive holds 40; ",
        ),
        (
            npy(header_of("(2, 3)"), bytes(56)),
            "x: a header that claims 48 bytes where the archive holds 56; ",
        ),
        (
            npy(header_of("(4096, 16384)"), bytes(8)),
            "x: a header that claims 536870912 bytes where the archive holds 8; ",
        ),
        (npy(header_of("(2, 99999999999999999999)")), "x: shape (2, 99999999999999999999); at most "),
        (npy(header_of("(" + "9" * 4500 + ", 1)")), "NPZ: cannot be read (Exceeds the limit (4300 digits)"),
        (npy(header_of("(-2, 3)"), bytes(48)), "x: not a plain array; "),
        (npy(header_of("(2, 3)", descr="'|O'"), bytes(48)), "x: an object array; "),
        (npy(header_of("(2, 3)", descr="[('a', '<f8')]"), bytes(48)), "x: not a plain array; "),
        (
            npy(header_of("(2, 3)", descr="'<f5'"), bytes(30)),
            "NPZ: cannot be read (data type '<f5' not understood); ",
        ),
        (npy(header_of("(2, 3)", descr="'<f0'"), b""), "NPZ: cannot be read ("),
        (npy("(" * 9000), "x: not a plain array; "),
        (npy(header_of("(2, 3)") + " " * 20000, version=2), "x: not an array in NPY format; "),
        (npy(header_of("(2, 3)"), bytes(48), version=3), "x: not an array in NPY format; "),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "x: not an array in NPY format; "),
        (b"\x93NUMPY\x01\x00", "x: not a plain array; "),
        (b"", "x: not an array in NPY format; "),
        (b"not numbers", "x: not an array in NPY format; "),
    ],
)
def test_wrong_headers(tmp_path: Path, content: bytes, message: str) -> None:
    assert refusal(zipped(tmp_path, {"x.npy": content})).startswith(f"e.npz: {message}")


def test_other_writers_headers(tmp_path: Path) -> None:
    """Order and spacing of a header are free."""
    header = "{'shape':(2,3),'fortran_order':True,'descr':'<f8'}"
    content = npy(header, np.asfortranarray(X).tobytes(order="A"), version=2)
    np.testing.assert_array_equal(load_example(zipped(tmp_path, {"x.npy": content, "O.npy": content})).x, X)


def test_text_that_is_no_text(tmp_path: Path) -> None:
    content = npy(header_of("(1,)", descr="'<U1'"), struct.pack("<I", 0x110000))
    assert (
        refusal(zipped(tmp_path, {"tokens.npy": content}))
        == "e.npz: tokens: a number that is no character; an array of str"
    )


def test_an_archive_with_anything_else(tmp_path: Path) -> None:
    assert refusal(zipped(tmp_path, {"../../x.npy": b""})).startswith("e.npz: ../../x: unknown array; ")
    x = io.BytesIO()
    np.save(x, X)
    for compression in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        message = refusal(zipped(tmp_path, {"x.npy": x.getvalue()}, compression))
        assert message == "e.npz: x: an unusual compression; numpy.savez or numpy.savez_compressed"
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("x.npy", x.getvalue())
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("x.npy", x.getvalue())
    assert refusal(tmp_path / "e.npz") == "e.npz: x: stored twice; one array of this name"


def test_an_encrypted_archive(tmp_path: Path) -> None:
    content = bytearray(saved(tmp_path).read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    assert "cannot be read (" in refusal(written(tmp_path, bytes(content), "e.npz"))


def test_a_bomb_is_not_inflated(tmp_path: Path) -> None:
    """50 MB of zeros in 50 kB, behind a header that asks for six numbers."""
    path = zipped(tmp_path, {"x.npy": npy(header_of("(2, 3)"), bytes(50 * 2**20))})
    assert path.stat().st_size < 2**17
    message, peak = refusal_and_memory(path)
    assert message == (
        "e.npz: x: a header that claims 48 bytes where the archive holds 52428800; write the file again"
    )
    assert peak < 2**20


def test_a_claim_in_header_and_archive_allocates_nothing(tmp_path: Path) -> None:
    """The archive lies too: its few bytes, it says, inflate to the 512 MB that the header claims."""
    header = npy(header_of("(4000, 16000)"))
    claimed = len(header) + 4000 * 16000 * 8
    content = bytearray(zipped(tmp_path, {"x.npy": header}).read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        position = content.index(signature) + offset
        content[position : position + 4] = struct.pack("<I", claimed)
    message, peak = refusal_and_memory(written(tmp_path, bytes(content), "e.npz"))
    assert message.startswith("e.npz: ")
    assert peak < 2**20


def test_truncation_anywhere_is_an_error(tmp_path: Path) -> None:
    content = saved(tmp_path).read_bytes()
    for length in range(0, len(content), 7):
        assert refusal(written(tmp_path, content[:length], "e.npz")).startswith("e.npz: ")


def test_pickles_and_bare_arrays_are_no_npz(tmp_path: Path) -> None:
    import pickle

    for content in (pickle.dumps({"x": X}), npy(header_of("(2, 3)"), bytes(48)), b"", b"PK\x05\x06"):
        assert refusal(written(tmp_path, content, "e.npz")).startswith("e.npz: NPZ: cannot be read (")


@pytest.mark.parametrize("comment", [b"", b"a comment"])
def test_an_archive_of_many_entries_is_not_listed(tmp_path: Path, comment: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.comment = comment
        for number in range(2000):
            archive.writestr(f"a{number}", b"")
    message, peak = refusal_and_memory(tmp_path / "e.npz")
    assert message.startswith("e.npz: NPZ: cannot be read (")
    assert peak < 2**18


def test_an_archive_in_an_archive(tmp_path: Path) -> None:
    inner = saved(tmp_path).read_bytes()
    assert refusal(zipped(tmp_path, {"e.npz": inner})).startswith("e.npz: e.npz: unknown array; ")
    assert refusal(zipped(tmp_path, {"x.npy": inner})) == (
        "e.npz: x: not an array in NPY format; an array saved by numpy.savez"
    )


@pytest.mark.parametrize(
    ("stem", "name"), [("我的 层", "我的-层"), ("...", "example"), ("- -", "example"), ("a" * 80, "a" * 64)]
)
def test_an_npz_is_named_after_its_file(tmp_path: Path, stem: str, name: str) -> None:
    assert load_example(saved(tmp_path, f"{stem}.npz")).id == name


# Fuzzing: one line, or an example that runs

no_folder_reset = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def survives(path: Path) -> None:
    """Whatever the file, it is an example that runs, or one line that names it."""
    message = ""
    try:
        run(load_example(path))
    except ExampleError as error:
        message = str(error)
    assert not message or (message.isprintable() and message.startswith(str(path.parent)))


toml_pieces = st.one_of(
    st.sampled_from(TOML.splitlines(keepends=True)),
    st.sampled_from(
        ["[", "]", "{", "}", "=", '"', "'", "\n", ",", ".", "x", "id", "nan", "-inf", "1e999", "[[", "]]"]
    ),
    st.text(max_size=4),
)


@no_folder_reset
@given(st.lists(toml_pieces, max_size=12).map("".join) | st.text(max_size=40))
@example(TOML)
def test_toml_made_of_anything(tmp_path: Path, content: str) -> None:
    survives(written(tmp_path, content.encode("utf-8", "surrogatepass")))


@no_folder_reset
@given(st.binary(max_size=60))
def test_toml_made_of_bytes(tmp_path: Path, content: bytes) -> None:
    survives(written(tmp_path, content))
    survives(written(tmp_path, content, "e.npz"))


@no_folder_reset
@given(st.data())
def test_toml_with_a_few_characters_changed(tmp_path: Path, data: st.DataObject) -> None:
    content = list(TOML)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.characters(codec="utf-8") | st.sampled_from(list('[]{}"=,.-019ex\n')))
    survives(written(tmp_path, "".join(content)))


TEMPLATE = Path(__file__).parents[2] / "assets" / "template.toml"
VALUES = ["0", "-1", "1e400", "1e-400", "nan", "[]", "[[]]", "{}", '""', '"\\u202e"', "true", "1979-05-27"]


@no_folder_reset
@given(st.data())
def test_a_template_with_lines_changed(tmp_path: Path, data: st.DataObject) -> None:
    """Remarks become settings, values others, lines go, come twice or elsewhere."""
    lines = TEMPLATE.read_text(encoding="utf-8").replace('"ID"', '"a"').splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(lines) - 1))
        key, equals, _ = lines[place].removeprefix("# ").partition(" = ")
        other = f"{key}{equals}{data.draw(st.sampled_from(VALUES))}"
        changed = data.draw(st.sampled_from([lines[place].removeprefix("# "), other, "", lines[place] * 2]))
        lines[place] = changed
        lines.insert(data.draw(st.integers(0, len(lines))), data.draw(st.sampled_from(["", changed])))
    survives(written(tmp_path, "\n".join(lines)))


@no_folder_reset
@given(st.data(), st.booleans())
def test_npz_with_a_few_bytes_changed(tmp_path: Path, data: st.DataObject, compressed: bool) -> None:
    save = np.savez_compressed if compressed else np.savez
    save(tmp_path / "whole.npz", x=X, O=X, eps=1e-5, tokens=np.array(["a", "b"]), token=1)
    content = bytearray((tmp_path / "whole.npz").read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    survives(written(tmp_path, bytes(content), "e.npz"))


names = st.sampled_from(["x", "O", "gamma", "beta", "eps", "tokens", "token", "y"])
dtypes = st.sampled_from(
    ["<f2", "<f4", ">f8", "<i4", "|u1", "|b1", "<c8", "<U2", "|S3", "<M8[s]", "|V4", "<f16"]
)
shapes = st.lists(st.integers(0, 3), max_size=3)


@no_folder_reset
@given(st.dictionaries(names, st.builds(lambda shape, dtype: np.ones(shape).astype(dtype), shapes, dtypes)))
def test_npz_of_any_shapes_and_types(tmp_path: Path, arrays: dict[str, Any]) -> None:
    np.savez(tmp_path / "e.npz", **arrays)
    survives(tmp_path / "e.npz")


@no_folder_reset
@given(st.text(alphabet="{}'()[]<>=|, :descrfortran_orderspeTFalsfiuO0123456789", max_size=80))
def test_npz_with_any_header(tmp_path: Path, header: str) -> None:
    survives(zipped(tmp_path, {"x.npy": npy(header, bytes(48))}))


# What is loaded only where it is needed


def test_importing_the_core_loads_little_beyond_numpy() -> None:
    loaded = "print(*sorted(__import__('sys').modules))"
    base, core = (
        set(subprocess.check_output([sys.executable, "-c", f"import {name}; {loaded}"], text=True).split())
        for name in ("numpy", "addnorm.mathcore")
    )
    assert "addnorm.mathcore.trace" in core
    late = {"zipfile", "tomllib", "hashlib", "difflib", "json", "fractions", "addnorm.mathcore.npz"}
    assert late & (core - base) == set()
