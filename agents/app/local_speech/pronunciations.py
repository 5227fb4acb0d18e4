"""The pronunciations of words that are not in the recogniser's dictionary, such as product names."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping

_LIMIT_S = 10.0
"""How long one call of a program may take, in seconds."""

_IPA = {
    **{"aɪ": "AY", "aʊ": "AW", "eɪ": "EY", "oʊ": "OW", "ɔɪ": "OY", "tʃ": "CH", "dʒ": "JH"},
    **{
        "əl": "AH L",
        "n̩": "AH N",
        "l̩": "AH L",
        "m̩": "AH M",
        "ɚɹ": "ER",
        "ɚ": "ER",
        "ɝ": "ER",
        "ɜ": "ER",
    },
    **{"i": "IY", "ɪ": "IH", "ᵻ": "IH", "ɛ": "EH", "e": "EH", "æ": "AE", "a": "AA", "ɑ": "AA"},
    **{"ɔ": "AO", "o": "AO", "ɒ": "AA", "ʊ": "UH", "u": "UW", "ʌ": "AH", "ə": "AH", "ɐ": "AH"},
    **{"ɾ": "T", "ʔ": "T", "ɹ": "R", "r": "R", "ɡ": "G", "g": "G", "θ": "TH", "ð": "DH"},
    **{"ʃ": "SH", "ʒ": "ZH", "ŋ": "NG", "ɲ": "N Y", "h": "HH", "j": "Y", "x": "K", "ɬ": "L"},
    **{letter: letter.upper() for letter in "bdfklmnpstvwz"},
}
"""The recogniser's phones of the sounds that espeak-ng writes."""

_SOUND = re.compile("|".join(sorted(_IPA, key=len, reverse=True)))
_PHONES = frozenset(" ".join(_IPA.values()).split())
_FLITE = {"AX": "AH", "AXR": "ER", "DX": "T", "EL": "AH L", "EM": "AH M", "EN": "AH N"}


def pronunciations(words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return how words are pronounced, as phones of the CMU dictionary divided by spaces.

    Each of the two programs gets one word in ten wrong, so the results of both are used. Without any
    program a word has no pronunciation.
    """
    asked = list(words)
    answers = [dict(_flite_pronunciations(asked)), dict(_espeak_pronunciations(asked))]
    return {
        word: tuple(dict.fromkeys(found[word] for found in answers if found.get(word)))
        for word in asked
    }


def _flite_pronunciations(words: list[str]) -> Iterable[tuple[str, str]]:
    program = shutil.which("t2p")
    if program is None:
        return
    for word in words:
        phones = [
            _FLITE.get(phone, phone)
            for phone in re.sub(r"\d", "", _output([program, word])).upper().split()
            if phone != "PAU"
        ]
        known = " ".join(phones)
        if {*known.split()} <= _PHONES:
            yield word, known


def _espeak_pronunciations(words: list[str]) -> Iterable[tuple[str, str]]:
    program = shutil.which("espeak-ng") or shutil.which("espeak")
    if program is None:
        return
    # Each word is a paragraph, so that it is not pronounced as a part of a sentence.
    output = _output([program, "-q", "--ipa", "-v", "en-us"], "\n\n".join(words))
    lines = [line for line in output.splitlines() if line.strip()]
    if len(lines) == len(words):
        for word, line in zip(words, lines, strict=True):
            yield word, " ".join(_IPA[sound] for sound in _SOUND.findall(line))


def _output(command: list[str], given: str = "") -> str:
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, timeout=_LIMIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return ""
    return done.stdout
