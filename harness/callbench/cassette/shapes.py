"""What e-mail addresses and phone numbers look like, and which of them belong to nobody.

Reserved for examples: the domains of RFC 2606 and 6761, and the numbers 555-0100 to 555-0199 (North
America), 07700 900xxx and 020 7946 0xxx (United Kingdom).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_EMAIL = re.compile(
    r"(?<![\w.%+~-])[A-Za-z0-9_](?:[A-Za-z0-9._%+-]{0,62}[A-Za-z0-9_+-])?"
    r"@((?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24})(?![\w-]|\.\w)"
)
_RESERVED_DOMAIN = re.compile(
    r"(?i)(?:.*\.)?(?:example\.(?:com|net|org|edu|cn|com\.cn)|test|example|invalid|localhost|local|internal"
    r"|users\.noreply\.github\.com)"
)
_FILE_SUFFIX = re.compile(
    r"(?i).*\.(?:png|jpe?g|gif|svg|webp|ico|js|mjs|ts|py|css|json|jsonl|ya?ml|toml|md|html?|txt|lock)"
)

_IN_ADDRESS = re.compile(r"://[^\s/@]*\Z")
"""What comes before a password in an address: host and password are no mailbox."""

# Not part of a longer number, a word, a decimal or a path.
_ALONE = r"(?<![\w.,:/#=+*-])"
_ENDS = r"(?![\w*]|[.,:/-]\d)"
_PHONE = re.compile(
    rf"(?<![\w.+*^/-])\+[1-9]\d{{0,2}}(?:[ .-]?\(?\d{{1,4}}\)?){{2,6}}{_ENDS}"
    rf"|{_ALONE}1[3-9]\d(?:\d{{8}}|[ -]\d{{4}}[ -]\d{{4}}){_ENDS}"
    rf"|{_ALONE}(?:\([2-9]\d{{2}}\) ?|[2-9]\d{{2}}[-. ])[2-9]\d{{2}}[-. ]\d{{4}}{_ENDS}"
)
_NOBODYS = re.compile(r"1?\d{3}55501\d\d|447700900\d{3}|442079460\d{3}")


def emails_in(text: str) -> Iterator[tuple[int, int]]:
    """Where e-mail addresses stand that may be somebody's."""
    if "@" not in text:
        return
    for found in _EMAIL.finditer(text):
        local, _, domain = found[0].partition("@")
        nobodys = local == "git" or _RESERVED_DOMAIN.fullmatch(domain)
        nobodys = nobodys or _IN_ADDRESS.search(text, max(0, found.start() - 200), found.start())
        if not nobodys and not _FILE_SUFFIX.fullmatch(domain):
            yield found.span()


def phones_in(text: str) -> Iterator[tuple[int, int]]:
    """Where phone numbers stand that may be somebody's.

    International ones (E.164, with or without spaces), Chinese mobiles, North American ones with
    separators.
    """
    for found in _PHONE.finditer(text):
        digits = re.sub(r"\D", "", found[0])
        filler = len(set(digits)) <= 2  # 13333333333
        if 8 <= len(digits) <= 15 and not filler and not _NOBODYS.fullmatch(digits):
            yield found.span()
