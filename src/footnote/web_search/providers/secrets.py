"""Keys and passwords, taken out of what providers send back: some repeat in an error what they were sent."""

import re
from urllib.parse import quote, unquote, urlsplit

from footnote.models.base import MIN_SECRET_LENGTH
from footnote.web_search.settings import ProviderAccess

_MASK = b"***"


def redact_secrets(data: bytes, access: ProviderAccess) -> bytes:
    """`data` without the key and the password of the address, also where they are written as in a URL.

    A very short one is a placeholder, and stands in many words.
    """
    try:
        password = unquote(urlsplit(access.base_url or "").password or "")
    except ValueError:
        password = None
    secrets = [secret for secret in (access.api_key, password) if secret and len(secret) >= MIN_SECRET_LENGTH]
    forms = {form for secret in secrets for form in (secret, quote(secret), quote(secret, safe=""))}
    if not forms:
        return data
    longest_first = sorted((re.escape(form.encode()) for form in forms), key=len, reverse=True)
    return re.sub(b"|".join(longest_first), _MASK, data, flags=re.IGNORECASE)
