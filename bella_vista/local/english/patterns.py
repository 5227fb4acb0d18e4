"""English patterns over folded words: verbs, clause openers, questions and statements.

Apostrophes are gone and short forms written out before these are tried ("what's" is "what is").
"""

import re


def _words(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that begins and ends with whole words; spaces in it are the text's own."""
    compact = re.sub(r"\s*\n\s*", "", pattern.strip())
    return re.compile(rf"(?<!\S)(?:{compact})(?!\S)")


_SOFT = r"(?: please| also| just| maybe| perhaps| then| probably| actually| really| definitely| still| quickly)*"
_ASK = rf"(?:(?:can|could|may|might|would|will) (?:i|we|you|he|she|they){_SOFT} |please |lets |let us |i (?:would like|want|need) (?:you )?to |i (?:would )?have to )"

# --- What a guest wants done with the order ---------------------------------------------------------

_GET = r"(?:get|have|order|grab|take|try|do|add|include|start with|begin with|go with|go for|put in|throw in)"

TAKE = _words(
    rf"""
    (?:can|could|may|might|would) (?:i|we|he|she|they|you|my \w+){_SOFT} (?:{_GET}|give|bring|make|send|put|pop|fix|grab)
    (?: (?:me|us|him|her|them)(?! all))?(?: also| up| down for)?
    |(?:i|we|he|she|they){_SOFT} (?:(?:would|will|shall|should|might|could){_SOFT} )?
    (?:like|love|want|wants|prefer|need|needs|fancy|take|get|have|order|choose|pick|try|do|go for|go with|feel like|could do with)
    (?: to {_GET})?(?: also)?
    |(?:i|we) (?:am|are)(?: going to)?{_SOFT} (?:having|getting|taking|have|get|order|do|after|going with|going for|looking for|thinking of|thinking|ordering|in the mood for)
    |(?:i|we) (?:was|were) (?:thinking(?: of| about)?|hoping (?:for|to get|to have))
    |let (?:me|us){_SOFT} {_GET}
    |(?:give|get|bring|send|make|fix|grab|do) (?:me|us)(?! all)
    |(?:put|mark|sign) (?:me|us) down for
    |(?:is it|would it be) possible to {_GET}
    |how about
    |(?:would like|would love|will have|will take|will get|is having|is getting|wants|want|likes|needs|need|takes|gets)(?: to {_GET})?
    |(?:{_ASK})?(?:add|order|include|throw in|put in|put|get|have|take|start with|gimme|give)
    |(?:my order (?:is|would be|will be)|the order is|that (?:would|will) be)
    """
)

MAKE = _words(
    rf"(?:{_ASK})?(?:make|turn)(?! me| us| sure)|(?:{_ASK})?make sure|(?:can|could) (?:it|that|they|those) (?:be|come)(?: made| done)?(?: on| with| in)?(?: an?| the)?|(?:can|could)(?= (?:one|two|both|all|the|my) (?:\w+ ){{1,4}}(?:be|come) )"
)

SWAP = _words(
    rf"(?:{_ASK})?(?:change|switch|swap|replace|exchange|substitute|trade|convert|upgrade|downgrade|sub|update)(?: out| over)?"
)

DROP = _words(
    rf"""
    (?:{_ASK})?(?:remove|delete|drop|cancel|scratch|lose|erase|ditch|subtract|discard|get rid of|forget about|forget
    |take off|take out|take away|leave out|leave off|cut out|knock off|strike|cross off|kick out)
    |(?:i|we)(?: really)? (?:do not|no longer|did not)(?: actually| really)? (?:want|need|order)(?: any)?
    |(?:i|we) would rather not have|do not (?:put|add|include|want|give me|make)(?: any)?|no longer want|never mind the
    """
)

# --- Where one clause ends and the next begins ------------------------------------------------------

OPENER = _words(
    r"""
    how (?:much|long|late|many|far|do|is|are|can|about|big|spicy|hot)
    |what \w+
    |which \w+|when (?:do|are|will|is|can|does)|where (?:do|are|is|can|should)|who (?:is|are)|why
    |do you|does (?:the|it|that|your|this|a|any)|did (?:you|i)|are (?:you|there|we|the|your|they)|is (?:there|it|that|the|this|your|my|a|an|any|any of|everything)
    |have you (?:got|any)|has (?:it|the)
    |(?:can|could|may|might|would) (?:i|we|you|he|she|they|my \w+)
    |i (?:would|will|want|am|need|have|do|was|think|can|changed|pay|prefer|live|take)|we (?:would|will|want|are|need|have|do|can)|my (?:name|number|phone|e|email|address|son|daughter|wife|husband|friend|kid|kids|mail)
    |let me|lets|let us|give me|get me|tell me|show me|call me|bring (?:me|it)
    |(?:please |also )?add (?:a|an|one|two|three|some|the|another|extra|in|on|\w+)|make (?:it|that|the|them|one|both|all|my|sure)|change|swap|switch|replace|remove|delete|cancel|take (?:off|out|away)
    |deliver|delivery|pickup|pick (?:it )?up|collect|for (?:pickup|pick up|delivery|collection|take away|take out)|to go|to take away
    |(?:there is|it is|that is|that will be|that would be) (?:all|it|everything|for)
    |thank you|thanks|bye|goodbye
    """
)

STRONG_OPENER = _words(
    r"how (?:much|long|late|many)|what (?:time|is|are|do|does|kind)|when (?:do|are|will)|where (?:do|are|is|can)|do you|are you|is (?:there|it|that)|can you|could you"
)
JOINTS = frozenset(
    "and but so then also please thanks ok okay yes no yeah yep nope hi hello hey well actually oh sorry plus because though now"
    " evening morning afternoon day there cheers sure right great perfect wait".split()
)
"""Words after which a new clause may begin."""

ASKING = frozenset("what which how when where who why whose".split())
"""Words after which "do you" begins nothing new."""

SOFT = frozenset("um uh uhm er erm well oh ah so and hmm hm but then".split())
"""Words before a clause that say nothing."""
