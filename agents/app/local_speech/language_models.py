"""The language models of users' sentences, cached in files."""

import hashlib
import logging
import os
import re
import shutil
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from agents.app.local_speech.pronunciations import pronunciations
from agents.app.local_speech.trigrams import arpa

logger = logging.getLogger(__name__)

OPEN = "open"
"""The kind of answer whose sentences include all others."""

_FORM = 1
"""The version of the files' format; files of other versions are not used."""

_DICTIONARY = "words.dict"
_DRAFT = "draft-"
_KEPT_S = 30 * 86_400.0
"""How long models are kept after their last use, in seconds."""

_DRAFT_KEPT_S = 3_600.0
"""How long an unfinished file is kept, in seconds."""

_UNSAYABLE = re.compile(r"[^a-z' ]+")


def plain(text: str) -> str:
    """Return a text as the recogniser's words: in lower case, without punctuation and accents.

    >>> plain("I'd like a Béchamel, please.")
    "i'd like a bechamel please"
    """
    bare = unicodedata.normalize("NFKD", text.casefold().replace("\u2019", "'"))
    bare = "".join(sign for sign in bare if not "\u0300" <= sign <= "\u036f")
    words = _UNSAYABLE.sub(" ", bare).split()
    return " ".join(word for word in (word.strip("'") for word in words) if word)


@dataclass(frozen=True, slots=True)
class LanguageModels:
    """The files of an application's language models, and functions that process recognised words.

    Args:
        dictionary: The words and their pronunciations.
        by_kind: The trigrams for each kind of answer that is expected.
        written: Converts recognised words to written text.
        meaning: Returns the meaning of a text; by default its words.
    """

    dictionary: Path
    by_kind: Mapping[str, Path]
    written: Callable[[str], str] = str
    meaning: Callable[[str], object] = plain


def language_models(
    sentences: Mapping[str, Sequence[str]], *, folder: Path | None = None
) -> LanguageModels:
    """Build the language models of users' sentences, or return the cached ones.

    Args:
        sentences: The sentences that users may say, by the expected kind of answer, including ``open``;
            a sentence that occurs twice is twice as probable.
        folder: The folder of the cached files; the user's cache by default.

    Raises:
        ValueError: There are no sentences for ``open``.
        OSError: The files cannot be written.
    """
    if not sentences.get(OPEN):
        raise ValueError("no sentences for the kind of answer 'open'")
    plain_sentences = {kind: [plain(one) for one in some] for kind, some in sentences.items()}
    folder = folder or user_cache_path("typed-handoffs") / "local-speech"
    made = folder / _fingerprint(plain_sentences)
    if not made.is_dir():
        _make(plain_sentences, made)
        _remove_unused(folder)
    with suppress(OSError):  # another user may own it
        os.utime(made)
    return LanguageModels(
        made / _DICTIONARY, {kind: made / f"{kind}.arpa" for kind in plain_sentences}
    )


def _fingerprint(plain_sentences: Mapping[str, Iterable[str]]) -> str:
    digest = hashlib.sha256(f"{_FORM} {_acoustic_model_version()}".encode())
    for program in ("t2p", "espeak-ng", "espeak"):
        digest.update(str(shutil.which(program)).encode())
    for kind, some in plain_sentences.items():
        digest.update(f"\n[{kind}]\n".encode())
        digest.update("\n".join(some).encode())
    return digest.hexdigest()[:32]


def _make(plain_sentences: Mapping[str, Sequence[str]], made: Path) -> None:
    made.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=made.parent))
    try:
        words = sorted(
            {word for some in plain_sentences.values() for one in some for word in one.split()}
        )
        entries = _dictionary(words)
        known = {entry.partition(" ")[0] for entry in entries}
        (draft / _DICTIONARY).write_text("\n".join(entries) + "\n", encoding="ascii")
        for kind, some in plain_sentences.items():
            usable = [one for one in some if known.issuperset(one.split())]
            (draft / f"{kind}.arpa").write_text(arpa(usable), encoding="ascii")
        with suppress(OSError):
            os.replace(draft, made)  # another process may have made it meanwhile
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    if not made.is_dir():
        raise OSError(f"{made}: cannot be made")


def _remove_unused(folder: Path) -> None:
    """Remove models that were not used for a month, and unfinished drafts."""
    now = time.time()
    for one in folder.iterdir():
        kept_s = _DRAFT_KEPT_S if one.name.startswith(_DRAFT) else _KEPT_S
        with suppress(OSError):  # another process may be removing it
            if one.is_dir() and now - one.stat().st_mtime > kept_s:
                shutil.rmtree(one, ignore_errors=True)


def _dictionary(words: Sequence[str]) -> list[str]:
    """Return the lines of a dictionary; a word's further pronunciations are numbered."""
    known: dict[str, list[str]] = {}
    wanted = {*words}
    with _default_dictionary().open(encoding="utf-8") as lines:
        for line in lines:
            entry, _, phones = line.strip().partition(" ")
            word = entry.partition("(")[0]
            if word in wanted:
                known.setdefault(word, []).append(phones)
    missing = [word for word in words if word not in known]
    for word, ways in pronunciations(missing).items():
        if ways:
            known[word] = list(ways)
    if unknown := [word for word in missing if word not in known]:
        logger.warning("words without a pronunciation are not recognised: %d", len(unknown))
    return [
        f"{word}({number}) {phones}" if number > 1 else f"{word} {phones}"
        for word in sorted(known)
        for number, phones in enumerate(dict.fromkeys(known[word]), start=1)
    ]


def _default_dictionary() -> Path:
    from pocketsphinx import get_model_path

    return Path(get_model_path("en-us/cmudict-en-us.dict"))


def _acoustic_model_version() -> str:
    from importlib.metadata import version

    return version("pocketsphinx")
