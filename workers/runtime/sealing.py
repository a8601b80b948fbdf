"""Seals a person's own token for its way through Redis, and names it without telling it.

AES-256-GCM (NIST SP 800-38D) with a fresh nonce each time; keys by HKDF (RFC 5869) from the operator's, one for each
purpose. Import it only where a token is at hand: the library takes long to load.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import SecretStr

_NONCE_BYTES = 12
_KEY_BYTES = 32
_NAME_DIGITS = 32


class Sealer:
    """One operator's key. Whoever holds it opens what others of the same key sealed."""

    def __init__(self, key: SecretStr) -> None:
        self._cipher = AESGCM(_derived(key, b"signalbox: seal"))
        self._naming_key = _derived(key, b"signalbox: name")

    def seal(self, secret: SecretStr, *, owner: str) -> str:
        """Return the secret in a form that only this key opens, and only for this owner."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = self._cipher.encrypt(nonce, secret.get_secret_value().encode(), owner.encode())
        return base64.b64encode(nonce + sealed).decode()

    def open(self, sealed: str, *, owner: str) -> SecretStr | None:
        """Return the secret; None when it was sealed by another key, for another owner, or changed since."""
        try:
            raw = base64.b64decode(sealed, validate=True)
            opened = self._cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], owner.encode())
        except (binascii.Error, ValueError, InvalidTag):
            return None
        return SecretStr(opened.decode())

    def name(self, secret: SecretStr) -> str:
        """Return 32 hex digits that stand for the secret: the same each time, and nothing to guess it by."""
        return hmac.digest(self._naming_key, secret.get_secret_value().encode(), "sha256").hex()[:_NAME_DIGITS]


def _derived(key: SecretStr, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=purpose).derive(key.get_secret_value().encode())
