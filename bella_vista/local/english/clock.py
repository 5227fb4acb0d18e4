"""How English speakers tell times and days, over folded words."""

import re

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_UNIT = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_COUNT = (
    rf"(?:\d{{1,4}}|(?:(?:twenty|thirty|forty|fifty|sixty|ninety)(?: (?:{_UNIT}))?)"
    rf"|{_UNIT}|fifteen|eighteen|thirteen|fourteen|sixteen|seventeen|nineteen|a couple of)"
)
_HALF = r"(?P<half>am|pm)"
_PART = r"(?P<part>in the (?:morning|afternoon|evening)|at night|this evening|tonight|o ?clock|oclock|sharp|ish|uhr)"
_MINUTE = r"(?P<minute>\d\d|oh (?:five)|ten|fifteen|twenty(?: five)?|thirty(?: five)?|forty(?: five)?|fifty(?: five)?)"
_HOUR = rf"(?P<hour>\d{{1,2}}|{_UNIT})"
_AT = r"(?:at like|at around|at about|at|by|around|about|for about|for around|until|before|after|from|@|say)"
_AFTER = r"(?= (?:[,.;:!?)]|tonight|tomorrow|today|please|and|on|for|if|i|we|thanks|thank|in|this|to|from|or|so|with|pickup|delivery|paid|paying|my)(?!\S)|$)"


def _words(pattern: str) -> re.Pattern[str]:
    compact = re.sub(r"\s*\n\s*", "", pattern.strip())
    return re.compile(rf"(?<!\S)(?:{compact})(?!\S)")


SOON = _words(
    r"(?:as soon as (?:possible|you can|it is ready|you are able)|asap|a s a p|right away|straight away|straightaway|immediately|right now|as fast as (?:possible|you can)|as quickly as (?:possible|you can)|whenever (?:it is|you are) ready|the sooner the better|the soonest|now please|for now)"
)
IN_A_WHILE = _words(
    rf"(?:in|within)(?: about| around)? (?:(?P<fraction>half an hour|a half hour|half hour|(?:a )?quarter of an hour|three quarters of an hour)|(?P<hours>an?|{_COUNT}) (?:hours?|hrs?)(?: and (?P<more>a half|a quarter|{_COUNT} minutes?))?|(?P<minutes>{_COUNT}) (?:minutes?|mins?|min))(?: from now| time)?"
)
DAY = _words(
    rf"""(?:for |on |by )?(?:(?:the )?day after tomorrow|tomorrow(?: (?:morning|night|evening|afternoon))?|today|tonight|this (?:evening|afternoon|morning)
    |(?:this |next |coming |this coming )?(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tues|tue|wed|thurs|thur|thu|fri|sat|sun)(?: (?:morning|night|evening|afternoon))?
    |(?P<month>{"|".join(MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec) (?:the )?(?P<date>\d{{1,2}}(?: ?(?:st|nd|rd|th))?))"""
)
_HALF_OR_PART = rf"(?:(?: (?:o ?clock|oclock))? {_HALF}| {_PART})"
HOURS = (
    _words(
        rf"(?:{_AT} |for )?(?P<shift>half|(?:a )?quarter|five|ten|twenty(?: five)?|5|10|20|25|{_COUNT} minutes) (?P<relative>past|to|after|till) {_HOUR}{_HALF_OR_PART}?"
    ),
    _words(rf"(?:{_AT} |for )?(?P<digits>\d{{1,2}}:\d\d)(?: (?:h|hrs|hours))?{_HALF_OR_PART}?"),
    _words(rf"(?:{_AT} |for )?(?P<digits>\d{{1,2}}[.]\d\d){_HALF_OR_PART}"),
    _words(rf"{_AT} (?P<digits>\d{{1,2}}[.]\d\d){_AFTER}"),
    _words(rf"(?:{_AT} |for )?{_HOUR}(?: {_MINUTE})?{_HALF_OR_PART}"),
    _words(rf"{_AT} {_HOUR}(?: {_MINUTE})?{_AFTER}"),
    _words(
        r"(?:(?:at|by|around|about|for|until|before) )?(?P<named>noon|midday|midnight|twelve noon|12 noon)"
    ),
)
"""An hour of the day, the surest ways to say it first."""

BARE_HOURS = (
    _words(rf"{_HOUR}(?: {_MINUTE})?"),
    _words(r"(?P<digits>\d{1,2}[.]\d\d)"),
)
"""An hour as an answer to a question for it."""

PARTS = frozenset(
    {"in the morning", "in the afternoon", "in the evening", "at night", "this evening", "tonight"}
)
"""Words beside an hour that say which half of the day is meant."""
