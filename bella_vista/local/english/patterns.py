"""English patterns over folded words: verbs, clause openers, questions and statements.

Apostrophes are gone and short forms written out before these are tried ("what's" is "what is").
"""

import re


def _words(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that begins and ends with whole words; spaces in it are the text's own."""
    compact = re.sub(r"\s*\n\s*", "", pattern.strip())
    return re.compile(rf"(?<!\S)(?:{compact})(?!\S)")


def _repeated(pattern: str) -> re.Pattern[str]:
    """The same for what is often said twice: "yes yes", "no that is wrong"."""
    compact = re.sub(r"\s*\n\s*", "", pattern.strip())
    return _words(rf"(?:{compact})(?: (?:{compact}))*")


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

# --- Small talk ---------------------------------------------------------------------------------------

GREETING = _words(
    r"hi(?: there)?|hello(?: there)?|hey(?: there)?|hiya|howdy|good (?:morning|afternoon|evening|day)|evening|morning|afternoon|greetings|yo|buongiorno|buonasera|ciao|hallo|guten (?:tag|abend|morgen)|bonjour|hola"
)
THANKS = _words(
    r"(?:many )?thanks(?: a lot| so much| very much| a million)?|thank you(?: so much| very much| kindly)?|cheers|much appreciated|i appreciate it"
)
BYE = _words(
    r"(?:good ?bye|bye(?: bye| now)?|see (?:you|ya)(?: later| soon| then)?|so long|have a (?:good|nice|great|lovely) (?:day|one|evening|night|weekend)|good night|take care|ciao|talk (?:to you )?later|i have to go|i am hanging up|hang up)"
)
YES = _repeated(
    r"""(?:yes|y|yeah|yep|yup|yea|ya|aye|sure(?: thing)?|of course|certainly|absolutely|definitely|indeed|correct|exactly|right|affirmative
    |ok|okay|k|fine|perfect|great|good|sounds (?:good|right|great|perfect|fine|about right)|looks (?:good|right|great|fine|correct)|that is (?:right|correct|fine|good|perfect|great|ok|okay|it exactly)
    |it is (?:right|correct|fine|good|perfect)|all (?:good|right|correct)|alright|go ahead|do it|please do|lets do (?:it|that)|go for it|place it|send it|confirm(?:ed| it| that)?|i confirm|why not|you got it|i do|i am|it is|that would be (?:great|nice|lovely|good)|i would love (?:to|that)|that works|works for me|si|ja|oui|deal|agreed|please place (?:it|the order)|place (?:the|my) order|uh huh|mm hm|mhm)"""
)
NO = _repeated(
    r"(?:no|nope|nah|naw|no way|not really|not yet|not right|wrong|incorrect|not now|not today|no thank you|no thanks|negative|never|i do not think so|i would rather not|not this time|not quite|that is (?:not right|wrong|not correct|not what i (?:said|ordered|wanted))|it is (?:not right|wrong)|i am good|i am fine|i am ok|rather not|do not|no comments?|absolutely not|certainly not|of course not|nein|non)"
)
RIGHT = _repeated(
    r"""(?:(?:yes|yeah|yep|ok|okay|and|so|no) )*(?:(?:that|it|everything|all)(?: is| looks| sounds)? (?:all )?(?:right|correct|perfect|good)|correct|perfect|exactly)(?: now| like that| so far| as it is)?"""
)
"""Says that all is as it should be, and that nothing is missing."""
DONE = _words(
    r"""(?:(?:no |nope |ok |okay |and |so |i think |i guess )*(?:that|this|it|there|thatll|that all)(?: is| will be| would be| was| should be|s)?(?: about| probably| actually| really| just)? (?:all|it|everything|that|enough|plenty|the lot|me done|us done|us)(?: i (?:want|need|wanted|will (?:have|need)|would like))?(?: for (?:now|me|us|today|tonight|the moment|this time)| now| then)*
    |(?:no |nope |ok |okay |yes |and |so |i think )*(?:that|this|it) (?:will|ought to|should) do(?: it| me| us| nicely| for now)?|i have (?:got )?(?:all|everything)(?: i (?:need|want))?
    |(?:no |nope )?nothing (?:else|more|further)|(?:no |nope )?i am (?:done|finished|all set|good to go|set|ready to (?:pay|check out|checkout))|we are (?:done|finished|all set|good to go|set)|all (?:set|done)|done|finished|just that|only that|just those|that does it|that finishes it|i am good(?: thanks| thank you)?|we are good|check ?out|ready to (?:order|pay|check out)|that completes (?:it|my order)|no more|no that is (?:all|it)|that is all folks|the end)"""
)
NOTHING = _words(
    r"(?:never ?mind(?: that| it)?|forget (?:it|that|about it)|leave it|do not worry(?: about it)?|skip (?:it|that)|nothing|none(?: of (?:them|those|these))?|not (?:any ?more|any)|let it be|drop it|scratch that)"
)
HUMAN = _words(
    r"""(?:.{0,40}? )?(?:(?:talk|speak|chat) (?:to|with) (?:a |an |the |your |some )?(?:real |actual |live |human )?(?:person|human|human being|someone|somebody|staff|manager|employee|agent|operator|representative|waiter|owner|boss|chef|colleague|people|guy|lady)(?: please)?
    |(?:get|give|put|connect|transfer|pass) (?:me|us)(?: over| through| on)?(?: to| with)? (?:a |an |the |your |some )?(?:real |actual |live |human )?(?:person|human|human being|someone|somebody(?: real)?|staff|manager|employee|agent|operator|representative|waiter|owner|boss)
    |(?:i )?(?:want|need|would like|prefer|have) (?:a |an |the |your )?(?:real |actual |live |human )(?:person|human|human being|agent|operator|being)
    |(?:i )?(?:want|need|would like) (?:a |the |your )(?:human|manager|operator|person|waiter)|(?:real|actual|live) (?:person|human)(?: please)?|human please|operator(?: please)?|manager please|a human(?: being)?(?: please)?|is there (?:a|any) (?:human|person|real person)(?: there| here)?|someone real)(?: .{0,20})?"""
)
ROBOT = _words(
    r".*(?:are you|is this|am i (?:talking|speaking) (?:to|with)|you are) (?:just )?(?:a |an |some )?(?:real |actual |live |automatic |automated )?(?:robot|bot|machine|computer|ai|a i|human|person|recording|program|chatbot|real|assistant|artificial).*"
)
ASKS_ROBOT = _words(
    r"(?:\w+ ){0,3}(?:are you|is this|is that|am i (?:talking|speaking|chatting) (?:to|with))(?: really| actually| just| even)* (?:a |an |some )?(?:real |actual |live |human |automatic |automated )*(?:robot|bot|machine|computer|ai|a i|human|human being|person|recording|program|chatbot|real|assistant|artificial)(?: or .*| by the way| right| then)?"
)
"""A question about the agent itself, and no wish for somebody else."""
BACK = _words(
    r"(?:go|take me|let us go|can we go) back(?: to (?:the|my) (?:order|menu|start))?|one step back|go back please"
)
REPEAT = _words(
    r"(?:can|could|would|will)? ?(?:you )?(?:please )?(?:repeat|say)(?: that| it| this)?(?: again| please| once more)*|(?:what|pardon|come again|excuse me|sorry|huh|what was that|what did you say|i did not (?:get|hear|catch|understand)(?: that| you| it)?|again please|say again|one more time|once more)"
)
WAIT = _words(
    r"(?:(?:hold|hang) on(?: (?:a|one|just a) (?:sec|second|minute|moment))?|wait|one (?:moment|second|sec|minute)|just a (?:moment|second|sec|minute)|give me a (?:moment|second|sec|minute)|let me (?:think|see|check|look|ask)|a moment|a second|i am (?:still )?thinking)(?: please)?"
)
STATUS = _words(
    r".*(?:where is my (?:order|food|delivery)|(?:status of|check on|what about) my order|is my (?:order|food|pizza) (?:ready|on (?:its|the) way|coming)|my order (?:is )?(?:ready|late|has not (?:come|arrived)))(?: yet)?.*"
)
BOOKING = _words(
    r".*(?:book|reserve|reservation|reservations)(?: .*)?|.*a table for .*|(?:do you have |is there )?(?:a |any )?tables? free.*"
)
WANT_ORDER = _words(
    r"""(?:i|we)(?: would| will| am| are)?(?: just| really)? ?(?:like|want|love|need|ready|here|calling|going|wish)? ?(?:to )?(?:place|make|put in|start|do|give|have)? ?(?:an |a |my |some )?(?:order|order something|order some food|order food|order now|order a meal|order dinner|order lunch|order take away|order take out|ordering)
    |(?:can|could|may) (?:i|we)(?: please)? (?:(?:place|make|put in|start|have) an order|order(?: something| some food| food| now)?)
    |(?:something|anything) to eat|order please|place an order|i am hungry|i am ready to order|(?:i|we) want to eat|(?:i|we) would like (?:something|some food)|(?:i|we) want (?:something|some food|food)|new order|an order"""
)
CANCEL_ALL = _words(
    r".*(?:cancel|scrap|delete|drop|forget|stop|kill|void|abort) (?:the |my |this |that |our )?(?:whole |entire |complete |full )*(?:order|everything|all of it|it all|the lot|whole thing|entire thing)(?! of)(?: please)?.*|i (?:do not want|no longer want) (?:anything|to order|the order|my order)(?: any ?more| at all)?|cancel all"
)
START_OVER = _words(
    r".*(?:start (?:over|again|from scratch|afresh|from the beginning)|begin again|(?:remove|delete|clear|take off|drop|empty|wipe) (?:everything|it all|all of it|all of them|all|the (?:whole )?(?:order|cart|basket)|my (?:order|cart|basket))).*"
)
RULES = _words(
    r""".*(?:ignore|forget|disregard|override|bypass|overwrite) (?:\w+ ){0,4}(?:rules?|instructions?|prompts?|guidelines?|orders you|prompt|policy|policies).*
    |.*(?:everything|it|all|order|food|meal|that|pizza|total|price) (?:\w+ )?(?:is|are|for|be|should be|must be|to|at|costs?|becomes?) (?:now )?(?:free|0|zero|nothing)(?: \w+)?.*
    |.*(?:set|change|make|lower|reduce|drop|update|put) (?:\w+ ){0,2}(?:price|prices|total|bill|cost|subtotal|tax).*|.*for free.*|.*(?:system prompt|developer mode|admin mode|debug mode|you are now|pretend (?:to be|that|you)|act as|jailbreak|sudo|execute|run the command|i am the (?:manager|owner|boss|admin|administrator|developer)).*
    |.*(?:100|hundred|50|90|99) ?(?:%|percent) (?:off|discount).*|.*give me (?:a|the|some|more|another) (?:discount|refund).*|.*refund.*|.*(?:another|other|last|previous) (?:customers?|callers?|guests?|persons?) (?:order|name|address|number|details).*"""
)
PLACE = _words(
    r"(?:(?:please |you can |go ahead and |ok |yes )*(?:place|submit|send|finali[sz]e|complete)(?: (?:the|my|this))? (?:order|it)(?: now| please| off| in| to the kitchen)*|order it(?: now| please)?|(?:let us|lets) order(?: it| that)?|i would like to (?:check out|checkout|pay)(?: now| please)?|(?:can|may|could) i pay(?: now| please)?|check ?out(?: please)?)"
)
FIRST_OF = _words(
    r"(?:the |number |option |no )?(?P<ordinal>first|second|third|fourth|fifth|last|1st|2nd|3rd|former|latter|one|two|three|four|1|2|3|4|middle)(?: one| option| of (?:them|those|these))?(?: please| then| thanks)*"
)
EACH = _words(
    r"(?:one|1) (?:of )?each(?: please| then| thanks)*|(?:one|1) (?:and|of) (?:one|the other)"
)
AS_IT_IS = _words(
    r"(?:(?:ok|okay|yes|fine|no|then|well|just|please|alright|sure|all right|it is|ok then) )*(?:(?:as (?:it|they) (?:is|are|comes?|was))|plain|without(?: it| that| then)?|leave it(?: out| off)?|normal|just normal|never ?mind(?: that| it| then)?|forget (?:it|that|about it|about that)|skip (?:it|that)|without then|no extras?|nothing|take it as it is|(?:just|only) (?:those|these|the|them)(?: two| three| ones?)?)(?: then| please| thanks)*"
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

AFTER_ANSWER = frozenset({"and", "but", "please", "thanks"})
"""Words that may follow a yes or a no."""

SURE_YES = frozenset({"yes", "yeah", "yep", "sure"})
"""Words that are a yes whatever follows."""

SOFT = frozenset("um uh uhm er erm well oh ah so and hmm hm but then".split())
"""Words before a clause that say nothing."""
