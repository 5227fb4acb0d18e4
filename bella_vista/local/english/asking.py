"""English patterns for what guests ask: prices, contents, hours, the house."""

import re


def _words(pattern: str) -> re.Pattern[str]:
    compact = re.sub(r"\s*\n\s*", "", pattern.strip())
    return re.compile(rf"(?<!\S)(?:{compact})(?!\S)")


BEGINS = _words(
    r"""(?:what|which|how|when|where|who|why|whats|is|are|does|do|has|have you|did|will it|will you|any|till when|until when|from when|till what|until what|at what
    |can|could|may|would|shall|should|tell me|show me|i would like to know|i want to know|i was wondering|i wonder|wondering|let me know|do you know|price|the price|prices|cost|read|list|describe|explain|give me the|remind me|repeat)"""
)
"""How a question begins."""

WOULD_KNOW = _words(
    r"(?:(?:i )?(?:was |am )?(?:just )?wondering|i (?:would (?:like|love) to|want to|need to|wanted to) (?:know|ask|check|find out)|(?:can|could|would) you (?:please )?(?:tell me|check|let me know|say)|do you know|tell me|let me know|any idea|i have a question|quick question|may i ask|can i ask(?: you)?)(?: ,)?(?: if| whether)?(?! about)"
)
_SO_FAR = r"(?:so far|in total|altogether|all together|all up|total|until now|up to now|at the moment|right now|for everything|for all of (?:it|that)|for it all|at the end)"

TOTAL = _words(
    rf"""(?:what|how much) (?:is|will be|would be|was|does)?(?: it| that| this| everything| all| my order| all of (?:it|that))?(?: come| make| add up| amount| cost)?(?: to)? ?(?:the |my |our )?(?:current |grand |final |order )?(?:total|bill|sum|subtotal|damage|balance)(?: so far| now| again| please| right now| at the moment| for .*| with .*| including .*)?
    |(?:what|how much) (?:do|will|would|did|should) (?:i|we)(?: have to)? (?:owe|pay|spend|need to pay)(?: you| in total| so far| now| altogether| all together| for (?:it|everything|that|all of it))*
    |how much (?:is|does|will|would|are)(?: (?:it|that|this|everything|all|all of (?:it|that)|my order|the order|the whole (?:thing|order|lot)))*(?: cost| be| come to| make| come)*(?: to)? ?{_SO_FAR}(?: please)?
    |what (?:does|will|would|is) (?:it|that|this|everything|all that|my order|the order)(?: all)? (?:come to|add up to|make|cost {_SO_FAR}|amount to)(?: so far| in total| all together| altogether)?
    |(?:what is|tell me|give me|can i (?:get|have|see)|could i (?:get|have)|can you (?:tell|give) me) (?:the|my) (?:total|bill)(?: please| so far)*|(?:my |the )?total(?: please| so far)?|how much is (?:everything|my order|the order|all of it|all that|it all|that all|the whole (?:thing|order))|the (?:bill|check) please"""
)
ORDER = _words(
    r"""(?:what|which)(?: \w+)? (?:have|did|do|had) (?:i|we)(?: actually)? (?:ordered|order|got|get|have|had|so far)(?: already| so far| on (?:my|the) order| until now| there| now| again)*|what have you (?:noted|written down|got down)(?: .*)?
    |what (?:is|do i have|was|do we have|have you got|do you have) (?:on|in) (?:my|the|our) (?:order|basket|cart|list)(?: so far| now| right now| at the moment)?|what (?:is|was) my order(?: so far| again| now)?|what do (?:i|we) have(?: so far| now| there| already)?|what have you got down(?: for me)?|what do you have down(?: for me)?
    |(?:can|could|would|will)? ?(?:you )?(?:please )?(?:read|repeat|say|tell me|go over|recap|confirm|list|show me|show|run through|summarize|summarise)(?: me)? (?:back )?(?:that|it|my order|the order|everything|what i (?:have|ordered|have ordered)|this|me my order|all of it|what we have)(?: back)?(?: to me)?(?: please| again| so far)*|my order so far|read (?:that |it |my order |the order )?back(?: to me)?|(?:did you get (?:that|everything|all that|it all)|have you got (?:that|everything))|recap"""
)
PRICE = _words(
    r"""(?:and )?how much (?:is|are|does|do|for|would|will|did|extra is|more is|s)|how much(?= (?:a|an|the|one|two|for)\b)|what (?:does|do|would|will|did|is)(?: .{1,60})? (?:cost|costs|price|priced at|go for|run me|set me back|sell for)|what is the (?:price|cost)(?: of| for)?|(?:the )?(?:price|cost|prices)(?: of| for| list)|what do you (?:charge|ask|take|want) for|how expensive (?:is|are)|what (?:is|are) (?:the|your) prices?(?: of| for)?|price of|do(?:es)? .{1,60} (?:cost|cost extra)|is .{1,40} (?:extra|free|included|more expensive|cheaper)|how much(?: .{1,60})? (?:cost|costs)"""
)
HOURS = _words(
    r"""(?:when|what time|until when|till when|until what time|till what time|from when|at what time|how late|how long|how early|what days?|which days?|what hours|what are your hours)(?: (?:do|does|are|is|will|can|would|until|at|so))*(?: (?:you|the restaurant|the kitchen|the place|it|u|we|guys|the store|the shop|your kitchen|they|the cafe|the bar))?(?: \w+)?? (?:open|close|closed|opening|closing|shut|deliver|delivering|here until|serve until|serving until|start|last orders?|stop serving|take orders|stay open|reopen)(?: .*)?
    |(?:you|u)(?: guys)?(?: still| already)? (?:open|closed)(?: .*)?|(?:are|is|will|do)(?: (?:you|the restaurant|the kitchen|it|the place|u|guys|they|the store|your kitchen))+(?: (?:are|be|still|already|even|also|guys|all))* (?:open|closed|serving|shut|close|open up|doing lunch|serve(?= (?:until|till|on)))(?: .*)?
    |(?:what|which) (?:are|is|were) (?:the|your)(?: \w+)? hours(?: .*)?|(?:opening|business|working|your|the|kitchen) (?:hours|times)(?: .*)?|(?:what are|tell me) (?:your|the) (?:opening )?(?:hours|times)(?: .*)?|hours|open (?:today|tomorrow|now|on \w+)|when is (?:the )?(?:closing|opening) time|what time (?:is|are) .*(?:close|open|closing|opening).*|closing time|opening time|(?:are|is) (?:today|tomorrow|sunday|monday) .*open"""
)
SERVICE = _words(
    r"""(?:do|does|can|could|will|would|are)(?: (?:you|u|the restaurant|guys|i|we|it))+(?: (?:also|guys|even|only|actually|all|please))* (?:deliver|delivering|do (?:deliveries|delivery|home delivery|pickups?|take ?away|take ?out|take away|take out|carry out|collection)|offer (?:delivery|pickup|take away|take out)|have (?:delivery|a delivery service|take away|take out)|get (?:it )?(?:delivery|delivered))(?: .*)?
    |(?:how|what)(?: \w+)? (?:long|soon|fast|quickly|quick|much time)(?: .*)?|what is the (?:wait|waiting time|wait time|delivery time|delivery fee|minimum(?: order)?|lead time)(?: .*)?|is there (?:a |any )?(?:delivery(?: \w+)?|minimum(?: order)?|wait|charge for delivery|fee for delivery|fee)(?: .*)?
    |(?:where|which areas?|how far|what areas?|what postcodes?|which postcodes?|what zip codes?)(?: do| can| will| would)? (?:you )?(?:deliver|bring)(?: .*)?|(?:how much|what) (?:is|does|are|for|would)(?: the| your)? (?:delivery|delivery fee|delivery charge|delivery cost|deliver|minimum)(?: .*)?|what does (?:the )?delivery cost
    |(?:when|what) is the (?:earliest|soonest|fastest|quickest)(?: .*)?|when (?:will|can|would|could|is|should)(?: (?:it|my order|the order|the food|i|we|everything|that|my food|they))*(?: be)? (?:ready|done|here|arrive|delivered|pick it up|pick up|collect it|collect|come|get it|come by|get here|be ready)(?: .*)?|(?:what time|when) (?:will|can|would) .*(?:ready|pick|collect|arrive|there|here).*|(?:is|do you do|do you have)(?: it)?(?: only)? (?:pickup|take away|take out|delivery|collection|carry out)(?: only)?(?: possible| available| too| as well)?|(?:can|could) (?:i|we) (?:eat|dine|sit)(?: in| here| inside| there| at a table)*(?: .*)?|(?:is|will) my (?:order|food) .*(?:ready|take).*|do you have (?:seats|seating|tables|a delivery|home delivery)(?: .*)?|(?:will|does) it take (?:long|a while)(?: .*)?|delivery (?:fee|cost|charge|time|area|zone)s?"""
)
PAYMENT = _words(
    r"""(?:can|could|may|do|does|will|would|is|are)(?: .{0,40})? (?:pay|paying|paid|take|accept|accepted|accepting|payment|use)(?: .{0,30})? (?:card|cards|cash|credit|debit|credit cards?|visa|mastercard|amex|american express|apple pay|google pay|paypal|contactless|check|checks|cheque|cheques|crypto|bitcoin|vouchers?|gift cards?|coupons?|online|later|now|at pickup|at the door|on delivery|in advance|by phone|over the phone|euros|dollars|bill|separately)(?: .*)?
    |(?:how|what|which|where|when)(?: .{0,30})? (?:pay|payment|payments|payment methods?|payment options?|methods of payment)(?: .*)?|is (?:it )?(?:cash|card)(?: only)?(?: ok| okay| fine| possible)?(?: .*)?|(?:do you|can i|could i|can we)(?: also| only)? (?:take|accept|pay(?: with| by| in)?|use)(?: my| a)? (?:card|cards|cash|credit cards?|visa|mastercard|amex|apple pay|google pay|paypal|contactless|checks?|plastic|credit|debit)(?: .*)?|cash only|cards? accepted"""
)
CONTENTS = _words(
    r"""what (?:is|are|was|were|does|do|s|goes|comes|all is|else is|exactly is|kind of \w+ is|sort of \w+ is)(?: all| actually| exactly)?(?: (?:in|on|inside|with|included in|included with|included))(?: .*)?|what (?:does|do)(?: .{1,60})? (?:come with|come in|contain|include|have (?:in|on) (?:it|them)|consist of|taste like|look like|have on|have in)(?: .*)?
    |what (?:ingredients|toppings)(?: (?:are|is|does|do))(?: .*)?|(?:the )?ingredients(?: (?:of|in|for))?(?: .*)?|what (?:is|are) (?:the |your )?(?:ingredients)(?: .*)?|(?:tell me|can you tell me|could you tell me)(?: more| something| a bit| a little)? about(?: .*)?|(?:describe|explain)(?: .*)?|how is(?: .{1,60}) (?:made|prepared|cooked|served)|how big (?:is|are)(?: .*)?|how (?:many|large)(?: .*)|what size (?:is|are)(?: .*)?
    |(?:does|do|is|are)(?: .{1,60})? (?:come with|served with|come on|made with|made of|made from|prepared with|cooked in|cooked with)(?: .*)?|how (?:spicy|hot|sweet|strong|large|small)(?: .*)?|(?:is|are) (?:the |your |there )?.{1,60}(?: (?:spicy|hot|sweet|big|large|homemade|fresh|frozen|good|small|strong|filling|any good|served))(?: .*)?"""
)
INSIDE = _words(
    r"(?:is|are) there(?: any| some| a)? (?P<what>.{1,40}?) (?:in|on|inside|with) (?P<dish>.+)|(?:does|do) (?!(?:you|u|we|guys)\b)(?P<dish2>.{1,50}?) (?:contain|have|include|come with|has)(?: any| some| a)? (?P<what2>.{1,40}?)(?: (?:in|on) (?:it|them|there))?"
)
ALLERGEN_WORDS = _words(
    r"(?:allergens?|allergic|allergies|allergy|nut free|gluten free|dairy free|lactose free|egg free|milk free|soy free|celiac|coeliac|intolerant|intolerance|free of|free from|traces of|safe for)"
)
ANYTHING_WITH = _words(
    r"(?:what|which|any|anything|something|everything|dishes)(?: .{1,60})? (?:no|without|contains?|has|have|with|includes?|in)(?: any| some)? .+"
)
SIZES = _words(
    r"(?:what|which|how many)(?: other| different)? sizes?|(?:is|are) there(?: other| different)? sizes|(?:do|does) .{1,40} come in (?:different |other |several )?sizes"
)
EXTREME = _words(
    r"(?P<low>cheapest|least expensive|lowest price[d]?|most affordable)|(?:most expensive|dearest|priciest|highest priced)"
)
IS_WITH = _words(
    r"(?:is|are|was|were) (?:it|that|this|they|those|these|the one) (?:with|made|without)(?: .*)?"
)
HOW_MUCH_IS_THAT = _words(
    r"(?:and |so )?how much (?:is|would) (?:it|that|this)(?: be| then| now| please)*"
)
CODE = _words(
    r"(?:(?:discount|promo|promotion|coupon|voucher) )?(?:codes?|coupons?|vouchers?)(?: called| named)?|discounts?|special offers?"
)
FREE = _words(r"(?P<what>\w+) free")
DIETS = frozenset(
    "vegan vegetarian veggie halal kosher pescatarian keto paleo organic plant-based low-carb".split()
)
HAVE = _words(
    r"""(?:do|does|did|have|has)(?: (?:you|u|the restaurant|we|guys))+(?: (?:also|guys|even|by any chance|maybe|still|all|perhaps|actually))* (?:have|got|sell|serve|offer|do|make|stock|carry|get)(?: any| some| a| an| the| your)?|have you(?: got)?(?: any| some| a| an| the)?|(?:is|are) there(?: any| some| a| an| still)*|any|(?:is|are)(?: the| your| any)? (?=.{1,60} (?:available|in stock|sold out|left|on the menu)$)
    |(?:can|could|may) (?:i|we|you) (?:get|have|order|do|make|see|choose)(?: any| some)?|got any|i am looking for"""
)
FOR_COURSE = _words(
    r"(?:for|as|to) (?:a |an |the )?(?:starters?|dessert|desserts|drinks?|drink|mains?|sides?|lunch|dinner|breakfast|eat|appetizers?|appetisers?|pudding|afters|sweets?)"
)
MENU = _words(
    r"""(?:what|which)(?: .{0,30})? (?:do|can|could|would|are|is|have|does)(?: (?:you|i|we|u|the|guys|there|it|they|on|your|today|some|all|also))*(?: (?:have|serve|offer|got|sell|order|get|eat|choose|recommend|suggest|on the menu|menu|options|specials?|specialties|specialities|good|best|popular|available|make|cook|do|drink))+(?: .*)?
    |(?:can|could|may) (?:i|we|you)(?: please)? (?:see|have|get|hear|send|read|show|look at|have a look at)(?: me| us)?(?: the| your| a)? (?:menu|card|list|options|choices)(?: .*)?|(?:the |your )?menu(?: please)?|(?:show|read|tell|give|send|list|walk)(?: me| us)?(?: through)?(?: about| what is on)?(?: the| your| a)? (?:menu|card|options|specials|dishes)(?: .*)?|what (?:is|s|are)(?: all)?(?: good| on offer| on (?:the|your) (?:menu|card)| there| available| special| your special(?:s|ty|ity)?| the specials?(?: .*)?| popular| the choices| my (?:options|choices)| the options| recommended| your options)(?: here| today| tonight| to eat| please)*|what (?:kind|sort|type) of (?:food|restaurant|place|cuisine|dishes|things)(?: .*)?|what food(?: .*)?|(?:any|what) (?:recommendations?|suggestions?|specials?)(?: .*)?|(?:can|could|would) you (?:recommend|suggest)(?: .*)?|what (?:would|do|can) you (?:recommend|suggest|advise)(?: .*)?|surprise me|do you have (?:a |any )?(?:menu|specials?|recommendations?)(?: .*)?|what (?:else|dishes|items|things|stuff)(?: .*)?|is there (?:a|any)(?:thing)?(?: special| good| new)(?: .*)?"""
)
ADDRESS = _words(
    r"(?:what|whats|tell me|give me|where|can i have)(?: (?:is|are|the|your|exactly|me))*(?: (?:address|location|located|you located|you exactly|you based|restaurant located|located at))(?: .*)?|where (?:are|r|is)(?: (?:you|u|the restaurant|this|it|the place|your restaurant|guys|the shop))+(?: .*)?|where (?:can|do|should|could) (?:i|we) (?:find|pick|collect|come|go|get|fetch)(?: .*)?|how (?:do|can) (?:i|we) (?:get|find|come)(?: .*)?|which (?:street|city|town|address)(?: .*)?|your address|what street(?: .*)?|which side .*"
)
PHONE = _words(
    r"(?:what|tell me|give me|can i have|do you have|may i have)(?: (?:is|the|your|a|me))*(?: (?:tele)?phone| telephone| contact| mobile| call back)*(?: number| phone)(?: .*)?|how (?:can|do) i (?:call|reach|contact|phone) (?:you|the restaurant)(?: .*)?|your (?:phone|number|phone number)"
)
NAME_OF_HOUSE = _words(
    r"(?:what|which) (?:is )?(?:the |your )?(?:restaurant|place)(?: is| are)? (?:this|it|you|called)(?: .*)?|what is (?:the name of (?:the|your) (?:restaurant|place)|(?:the|your) restaurant called|your name|the name)|who (?:is this|are you|am i (?:talking|speaking) (?:to|with))"
)
FACTS = {
    "parking": "park parked parking car garage lot spot spots".split(),
    "kids": "kid kids child children baby toddler high chair chairs highchair family son daughter".split(),
    "wifi": "wifi internet wlan password network wireless online".split(),
    "dogs": "dog dogs pet pets animal animals cat puppy".split(),
    "terrace": "terrace outside outdoor outdoors garden patio seating seats sit".split(),
    "wheelchair": "wheelchair accessible access disabled step ramp accessibility stairs".split(),
    "reservations": "reserve reservation reservations book booking table tables".split(),
    "smoking": "smoke smoking smoker ashtray".split(),
    "music": "music band live concert".split(),
    "catering": "catering cater party parties event events function".split(),
    "birthday": "birthday birthdays celebration anniversary".split(),
    "halal": "halal".split(),
    "kosher": "kosher".split(),
    "toilet": "toilet toilets restroom bathroom loo washroom".split(),
    "seating": "seat seats seating sit table tables inside".split(),
    "gift": "gift gifts voucher vouchers card cards".split(),
    "corkage": "corkage byob bottle wine bring".split(),
    "groups": "group groups large big party people".split(),
    "dress": "dress code wear".split(),
    "jobs": "job jobs hiring work hire".split(),
    "bus": "bus train metro subway tram station transport".split(),
}
"""What a fact may be asked by, by words that its key may be."""
