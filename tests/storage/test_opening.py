"""The storage of a `storage.url`, or an error about it."""

from pathlib import Path

import pytest

from footnote.net.client import Net
from footnote.protocol.errors import ConfigError
from footnote.storage import open_storage
from footnote.storage.local import LocalStorage
from storage.contents import place_of, put

KEYS = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "not-to-be-seen"}


@pytest.mark.parametrize(("url", "folder"), [("local:files", "home/files"), ("local:a/b c", "home/a/b c")])
async def test_a_folder_is_below_the_home_folder_and_made_with_the_first_file(
    tmp_path: Path, net: Net, url: str, folder: str
):
    storage = open_storage(url, tmp_path / "home", {}, net)
    assert isinstance(storage, LocalStorage)
    assert list(tmp_path.iterdir()) == []
    place = await put(storage, b"x")
    assert (tmp_path / folder / place).read_bytes() == b"x"


async def test_a_folder_may_be_anywhere(tmp_path: Path, net: Net):
    storage = open_storage(f"local:{tmp_path}/elsewhere", tmp_path / "home", {}, net)
    place = await put(storage, b"x")
    assert (tmp_path / "elsewhere" / place).read_bytes() == b"x"


@pytest.mark.parametrize(
    ("url", "address", "fetched"),
    [
        ("s3://bucket", "s3://bucket/", "https://bucket.s3.us-east-1.amazonaws.com/{place}?"),
        ("s3://bucket?region=eu-west-3", "s3://bucket/", "https://bucket.s3.eu-west-3.amazonaws.com/{place}?"),
        ("s3://my.bucket", "s3://my.bucket/", "https://s3.us-east-1.amazonaws.com/my.bucket/{place}?"),
        ("s3://bucket/a/b/", "s3://bucket/a/b/", "https://bucket.s3.us-east-1.amazonaws.com/a/b/{place}?"),
        ("s3://bucket?style=path", "s3://bucket/", "https://s3.us-east-1.amazonaws.com/bucket/{place}?"),
        ("s3://bucket?endpoint=https://S3.Example.org:443/", "s3://bucket/", "https://s3.example.org/bucket/{place}?"),
        ("s3://bucket?endpoint=https://[::1]:9000", "s3://bucket/", "https://[::1]:9000/bucket/{place}?"),
        (
            "s3://bucket?endpoint=https://s3.example.org:8443&style=host",
            "s3://bucket/",
            "https://bucket.s3.example.org:8443/{place}?",
        ),
        ("s3://bucket?endpoint=http://minio:9000", "s3://bucket/", None),
        (
            "s3://bucket?endpoint=http://minio:9000&downloads=direct",
            "s3://bucket/",
            "http://minio:9000/bucket/{place}?",
        ),
        ("s3://bucket?downloads=server", "s3://bucket/", None),
    ],
)
def test_a_bucket_is_found_by_its_address(tmp_path: Path, net: Net, url: str, address: str, fetched: str | None):
    storage = open_storage(url, tmp_path, KEYS, net)
    place = place_of(b"x")
    signed = storage.signed_url(place, seconds=60, filename="x.txt", media_type="text/plain")
    assert storage.address == address
    assert (signed or "").startswith((fetched or "").format(place=place))
    assert (signed is None) == (fetched is None)


@pytest.mark.parametrize(("name", "region"), [("AWS_REGION", "eu-west-1"), ("AWS_DEFAULT_REGION", "ap-south-1")])
def test_the_region_may_come_from_the_environment(tmp_path: Path, net: Net, name: str, region: str):
    signed = open_storage("s3://bucket", tmp_path, {**KEYS, name: region}, net).signed_url(
        place_of(b"x"), seconds=60, filename="x.txt", media_type="text/plain"
    )
    assert f"%2F{region}%2Fs3%2F" in (signed or "")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://files", "neither local: nor s3:"),
        ("local:", "neither local: nor s3:"),
        ("s3://", "a bucket's name"),
        ("s3://Bucket", "a bucket's name"),
        ("s3://ab", "a bucket's name"),
        ("s3://not-to-be-seen:not-to-be-seen@bucket", "no key belongs into it"),
        ("s3://bucket/a b", "the path behind the bucket"),
        ("s3://bucket/../other", "the path behind the bucket"),
        ("s3://bucket?secret=not-to-be-seen", "'secret' is not known there"),
        ("s3://bucket?region=EU", "`region` has"),
        ("s3://bucket?style=virtual", "`style` is path or host"),
        ("s3://bucket?downloads=yes", "`downloads` is direct or server"),
        ("s3://bucket?endpoint=s3.example.org", "`endpoint` is the address"),
        ("s3://bucket?endpoint=ftp://s3.example.org", "`endpoint` is the address"),
        ("s3://bucket?endpoint=https://not-to-be-seen@s3.example.org", "`endpoint` is the address"),
        ("s3://bucket?endpoint=https://s3.example.org/path", "`endpoint` is the address"),
        ("s3://bucket?endpoint=http://h:99999", "`endpoint` is the address"),
        ("s3://bucket?endpoint=http://127.0.0.1:9000&style=host", "`style=host` needs an endpoint with a name"),
    ],
)
def test_an_address_that_cannot_be_used_is_an_error_that_says_why(tmp_path: Path, net: Net, url: str, reason: str):
    with pytest.raises(ConfigError) as caught:
        open_storage(url, tmp_path, KEYS, net)
    assert reason in caught.value.message
    assert "not-to-be-seen" not in caught.value.message


@pytest.mark.parametrize(
    ("environ", "missing"),
    [
        ({}, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"),
        ({"AWS_ACCESS_KEY_ID": "AKIA"}, "AWS_SECRET_ACCESS_KEY is not set"),
        ({"AWS_SECRET_ACCESS_KEY": "not-to-be-seen"}, "AWS_ACCESS_KEY_ID is not set"),
        ({"AWS_ACCESS_KEY_ID": " ", "AWS_SECRET_ACCESS_KEY": "s"}, "AWS_ACCESS_KEY_ID is not set"),
    ],
)
def test_keys_that_are_missing_are_named(tmp_path: Path, net: Net, environ: dict[str, str], missing: str):
    with pytest.raises(ConfigError) as caught:
        open_storage("s3://bucket", tmp_path, environ, net)
    assert missing in caught.value.message
    assert "not-to-be-seen" not in caught.value.message
