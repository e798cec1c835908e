"""Signatures against the examples in the documentation of S3."""

from datetime import UTC, datetime

from footnote.storage.s3 import EMPTY_HASH, Credentials, Signer

KEYS = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
SIGNER = Signer(KEYS, "us-east-1")
HOST = "examplebucket.s3.amazonaws.com"
MOMENT = datetime(2013, 5, 24, tzinfo=UTC)


def test_a_request_for_a_part_is_signed_as_in_the_published_example():
    headers = SIGNER.headers("GET", HOST, "/test.txt", sha256=EMPTY_HASH, moment=MOMENT, range="bytes=0-9")
    assert headers == {
        "range": "bytes=0-9",
        "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "x-amz-date": "20130524T000000Z",
        "authorization": "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    }


def test_a_request_with_a_body_is_signed_as_in_the_published_example():
    headers = SIGNER.headers(
        "PUT",
        HOST,
        "/test%24file.text",
        sha256="44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
        moment=MOMENT,
        date="Fri, 24 May 2013 00:00:00 GMT",
        x_amz_storage_class="REDUCED_REDUNDANCY",
    )
    assert headers["authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, "
        "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
    )


def test_an_address_is_signed_as_in_the_published_example():
    assert SIGNER.query("GET", HOST, "/test.txt", moment=MOMENT, seconds=86_400, response_fields={}) == (
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2F"
        "aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&"
        "X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    )


def test_a_session_token_is_sent_and_signed():
    signer = Signer(Credentials("AKIA", "secret", "token"), "eu-central-1")
    headers = signer.headers("GET", HOST, "/x", sha256=EMPTY_HASH, moment=MOMENT)
    assert headers["x-amz-security-token"] == "token"
    assert "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token" in headers["authorization"]
    assert "X-Amz-Security-Token=token" in signer.query("GET", HOST, "/x", moment=MOMENT, seconds=1, response_fields={})


def test_keys_are_not_shown():
    assert repr(KEYS) == "Credentials(***)"
    assert repr(SIGNER) == "Signer('us-east-1')"
