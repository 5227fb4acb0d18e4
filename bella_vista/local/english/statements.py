"""English patterns for what guests tell about themselves, the handover, the money and the evening."""

import re


def _words(pattern: str) -> re.Pattern[str]:
    compact = re.sub(r"\s*\n\s*", "", pattern.strip())
    return re.compile(rf"(?<!\S)(?:{compact})(?!\S)")


_IT = r"(?: it| that| them| this| everything| all of it| the order| my order| the food| the lot| the pizzas?)?"
_ME = r"(?:i|we|my \w+|someone|he|she)"
_WILL = r"(?: will| would| would like to| want to| can| could| am going to| shall| are going to| am|'ll| prefer to| plan to)*(?: just| also| rather)*"

# --- names ------------------------------------------------------------------------------------------

NAME_IS = _words(
    r"(?:(?:my|the|first|last|full|our)(?: \w+)? name (?:is|will be|would be)|name is|my name|i am called|they call me|you can call me|(?:please )?call me|i go by|name on it is|(?:put (?:it|that|this|me|the order) )?(?:down )?(?:under|for|in|on|with) (?:the |my )?name(?: of)?|order name is|the name(?: for the order)? is|(?:in |under )?(?:the )?name of|(?:put|write|place) (?:it|me|that) (?:down )?(?:under|as)|(?:it is|the order is|order|that is) under)"
)
I_AM = _words(r"i am|it is|this is|(?:and )?we are|my name(?: is)?")
FOR_NAME = _words(r"(?:(?:it|this|that|the order|order) (?:is|will be) for|for|under)")
NAME = _words(r"name(?= \S)")
IS_MY_NAME = _words(r"is (?:my|the) (?:first |last )?name")
NAME_HERE = frozenset({"here", "speaking", "calling"})
NOT_NAMES = frozenset(
    "not just here calling still sorry ok okay fine good great well ready done hungry starving thirsty new"
    " back late early home alone lost sure unsure happy sad tired vegan vegetarian pescatarian celiac"
    " coeliac lactose gluten allergic intolerant diabetic pregnant interested wondering thinking looking"
    " going trying having getting paying ordering driving coming staying sitting outside inside downstairs"
    " upstairs nearby in on at from a an the very so really quite pretty too all my your our this that it"
    " for to with by about around into afraid glad curious spelled spelt actually also only like please"
    " yes no nope yeah and or but hi hello hey perfect nice lovely urgent wrong right correct true false"
    " expensive cheap free open closed delivery pickup cash card none nothing enough everything something"
    " undecided torn confused driving running set finished again now today tonight tomorrow because what"
    " when where who why how which is are was be been will would could should can may do does did has have"
    " the one two three four five six seven eight nine ten large small medium big under speaking him her"
    " them me us you anything someone anyone guest customer person manager owner boss somebody business"
    " work dinner lunch breakfast friends family kids children".split()
)
GIVEN_NAMES = frozenset(
    "mark grace rose will bill frank faith hope joy jack may june april dawn bob rob sue pat art ray jay lee"
    " drew dean grant guy gene earl miles clay glen heath heather holly ivy iris jade jean jasmine basil olive"
    " ginger rosemary sage violet daisy lily pearl ruby amber crystal summer autumn christian angel max rich"
    " chip chuck curt don ed hank herb jim joe ken nick norm pete phil ralph ron russ stew stu ted tom tony"
    " van vic wade ward wes woody major king duke prince baron bishop cook baker carter cooper taylor mason"
    " hunter parker porter tucker tyler carol eve fern gail hazel honey ike dale brook sandy penny patience"
    " charity prudence victor dolly molly mike".split()
)
"""Names that are also words."""
PARTICLES = frozenset(
    "van von de der den di da del la le du dos bin al el ter ten zu o mac".split()
)

# --- contacts -----------------------------------------------------------------------------------------

PHONE_WORDS = _words(r"(?:(?:tele)?phone|cell|mobile|number|call|ring|reach|text|contact|tel)")
SAID_EMAIL = re.compile(
    r"(?<!\S)[\w.+-]+(?:(?: dot | underscore | dash |\.)[\w-]+)* at [\w-]+(?:(?: dot |\.)[\w-]+)*(?: dot |\.)[a-z]{2,6}(?!\S)"
)
WRITTEN_EMAIL = re.compile(r"[^\s@,;:<>()]+@[^\s@,;:<>()]+\.[^\s@,;:<>()]+")
WRITTEN_PHONE = re.compile(r"(?<![\w#])\+?\(?\d[\d\s()./-]{5,22}\d(?![\w])")

# --- how and when -------------------------------------------------------------------------------------

PICKUP = _words(
    rf"""(?:(?:it is|that is|this is|make it|as|for)(?: a)? )?(?:pickup|pick up|pick up order|collection|take away|take out|carry out|takeaway)(?: order)?(?: please)?
    |(?:to be |will be |i would like it )?picked up(?: by me| myself)?|(?:it is |all )?to go(?! back| over| with| for| and)|to take away
    |{_ME}{_WILL} (?:pick{_IT} up|pick up{_IT}|picking{_IT} up|collect{_IT}|collecting{_IT}|fetch{_IT}|swing by|drop by|stop by|drop in|pop in|pop by
    |come (?:by|over|in|down|round|there)|come (?:and |to )?(?:get|pick up|collect|fetch|grab){_IT}|come (?:and |to )?pick{_IT} up|coming (?:by|over|in|to get it|to pick it up)|get it myself|be there|be over|grab it)(?: myself| from you| there| at the restaurant)?
    |pick{_IT} up(?: myself)?|collect it|(?:can|could) (?:i|we) (?:pick{_IT} up|collect{_IT})"""
)
_BRING = r"(?:deliver|delivered|deliver it|delivery|bring|send|ship|drop)"
DELIVER_TO = _words(
    rf"""(?:(?:i|we)(?: would like| want| need| will have| will take)(?: to have)? |(?:can|could|would) (?:you|i|we)(?: please)?(?: get| have)? |please |for |have |get |i would like to (?:get|have) )?
    (?:{_BRING}{_IT}|(?:it |that |this |everything |them )?delivered)(?: off| over| round)?(?: please)? (?:to|at)(?: me at| us at)?(?: my (?:house|place|home|flat|apartment|office|hotel|address|work)(?: at| on| in|,)?(?! please| \.|$))?(?: the address| this address)?
    |(?:for )?delivery(?: please)?(?: ,)? (?:to|at)|to (?:be )?delivered (?:to|at)
    |(?:my|the|our|delivery|it is the)(?: delivery| home| street)? address (?:is|would be)|i live (?:at|in|on)|we live (?:at|in|on)|we are (?:at|on)|i am at|address|the address is|it is going to|deliver it here"""
)
DELIVERY = _words(
    rf"""(?:(?:it is|that is|make it|as|for)(?: a)? )?(?:delivery|home delivery)(?: order)?(?: please)?(?! fee| cost| charge| time)|(?:(?:can|could|would) (?:you|i|we)(?: please)?(?: get| have)? |please |i (?:would like|want|need)(?: to (?:get|have))? )?(?:deliver{_IT}|(?:it |that |everything |them )?delivered|bring{_IT})(?: please)?(?: to (?:me|us|my (?:house|place|home|door|flat|apartment|office|hotel)|our (?:house|place|home|office)))?
    |to my (?:house|place|home|door|flat|apartment|office)"""
)
EAT_IN = _words(
    r"(?:for here|eat(?:ing)? (?:in|here|there)|dine(?: |-)?in|dining in|to have here|sit(?:ting)? in|at (?:a|the|your) table|stay(?:ing)? in)"
)
STREET = frozenset(
    "street st avenue ave road rd lane ln boulevard blvd drive dr way square sq place pl court ct terrace"
    " crescent close gardens hill park row highway hwy parkway pkwy alley mews walk broadway".split()
)
STREET_ENDS = ("strasse", "str", "gasse", "platz", "weg", "allee", "straat", "gade", "gatan", "vej")
STREET_BEGINS = frozenset("via viale piazza rue avenida calle rua corso plaza".split())
AFTER_STREET = frozenset(
    "apartment apt flat floor unit suite room number no building house block top ground first second third".split()
)
ADDRESS_ENDS = frozenset(
    "please thanks thank and with i we for can could would my asap tomorrow tonight today but also so then"
    " if as plus paying cash card around by the name under is it ok okay that".split()
)
ABBREVIATED = frozenset(
    "st ave rd apt no nr blvd dr ln sq pl str mt ste hwy pkwy ct fl bldg".split()
)

# --- money ------------------------------------------------------------------------------------------

_CASH = r"(?:cash|coins|bills|bank notes|cash money)"
_CARD = r"(?:(?:(?:my|a|the|by|with) )?(?:credit|debit|bank|ec|visa|master)? ?card|visa|mastercard|amex|american express|credit|debit|contactless|apple pay|google pay|plastic)"
METHOD = re.compile(rf"(?P<cash>{_CASH})|(?P<card>{_CARD})")
METHOD_ALONE = _words(rf"(?:{_CASH}|{_CARD})")
PAY = _words(
    rf"""(?:{_ME}{_WILL} )?(?:pay|paying|settle)(?: for it| it| that| for that| the bill| you)?(?: by| with| in| using| via)?(?: (?:my|a|the))? (?:{_CASH}|{_CARD})(?: on (?:delivery|pickup|arrival|collection)| when (?:i|we|you) .*)?(?: please)?
    |(?:put it on|charge|use|take) (?:my|the|a) (?:{_CARD})|(?:by|with|in) (?:{_CASH}|{_CARD})(?: please)?|{_CASH} on (?:delivery|pickup|arrival|collection)
    |(?:i|we)(?: will| would like to| have| only have| am)* (?:use|using|do|take|have|got|prefer|choose|go with) (?:my |a |the )?(?:{_CASH}|{_CARD})|(?:{_CASH}|{_CARD})(?: is (?:fine|good|ok|okay|easier|best))?(?: please)?"""
)
PAY_ALONE = _words(
    rf"(?:(?:{_CASH}|{_CARD})(?: is (?:fine|good|ok|okay|easier|best))?(?: please| then| thanks)?)"
)
METHODS_TOO = _words(
    rf"(?:half|part|partly|some|rest|split)(?: of (?:it|that))?(?: (?:by|in|with|on|is|it|as))* (?:{_CASH}|{_CARD})"
)
"""What says that not all is paid in one way."""
PAYS_OTHERWISE = _words(
    rf"(?:{_CASH}|{_CARD}) (?:instead|after all|rather)|(?:split|half|part|partly) .*(?:{_CASH} .*{_CARD}|{_CARD} .*{_CASH})|{_CASH} (?:and|or) {_CARD}|{_CARD} (?:and|or) {_CASH}"
)
"""A wish about paying, even in the form of a question."""
USES_CODE = _words(
    r"(?:use|apply|redeem|enter|add|try)(?: (?:the|a|my|this))?(?: \w+)? (?:code|coupon|voucher).*"
)
UNCHOSEN = re.compile(
    rf"(?<!\S)(?:(?:not|no|instead of|rather than|without) (?:by |in |with |to pay (?:by |in )?)?(?:{_CASH}|{_CARD})|(?:{_CASH}|{_CARD}) or (?:by |in |with )?(?:{_CASH}|{_CARD}))(?!\S)"
)
"""Ways of paying that were named and not chosen."""
TIP = _words(r"(?:tips?|tipping|gratuity|trinkgeld)")
NO_TIP = _words(
    r"(?:no|without(?: a| any)?|skip(?: the)?|zero|not? (?:any|a)|(?:i )?(?:do not|will not|would rather not)(?: want to| want a| want to (?:leave|give|add) a| leave a| give a| add a| want any)?|not) (?:tips?|tipping|gratuity)(?: this time| today| thanks| please)?"
)
SKIPS = _words(
    r"(?:(?:i will |lets |let us )?(?:skip|pass)(?: it| that| this| on (?:it|that|this))?|not (?:today|this time)|nothing|nothing extra|no extra|zero|none|nada|leave it)"
)
"""What declines a tip when one was offered."""
ROUND_UP = _words(
    r"(?:round(?: it| that)?(?: up)?(?: to)?|make it(?: up to)?(?: an even| a round)?|call it) (?P<sum>(?:[$€£¥] )?[\w.,]+(?: \w+)?(?: dollars| euros| pounds| bucks| yen)?)"
)
A_PERCENTAGE = _words(r"(?:%|percent|per cent)")
BARE_PERCENT = _words(
    r"(?:lets do |make it |add |i will do )?[\w.]+(?: [\w]+)? (?:%|percent|per cent)"
)
STATED_PRICE = _words(
    r"(?:(?:for|at|only|just|costs?|worth|that is|which is) )*(?:[$€£¥] [\d.,]+|[\w.,]+ (?:dollars?|bucks?|euros?|pounds|quid|cents?|pence|yen)(?: [\d]+)?)(?: each| apiece| only)?"
)
KEEP_CHANGE = _words(r"keep the (?:change|rest)")
PERCENT = frozenset({"%", "percent", "per cent", "pct"})
CURRENCY_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
CURRENCY_WORDS = frozenset(
    "dollar dollars buck bucks euro euros pound pounds quid yen franc francs usd eur gbp jpy chf kr crowns".split()
)
SMALL_COIN = frozenset("cent cents pence penny p centimes rappen".split())
COUPON = _words(
    r"(?:(?:i|we)(?: also)? (?:have|got|have got|want to use|would like to use)(?: also)? )?(?:(?:can|could|may) i )?(?:(?:use|apply|redeem|enter|add|with|and|there is) )?(?:(?:a|the|this|my|your) )?(?:(?:discount|promo|promotion|coupon|voucher|gift) )?(?:code|coupon|voucher|promo)(?: code)?(?: that| which)?(?: is| says| called| for|:|,)?"
)
COUPON_OFF = _words(
    r"(?:remove|drop|take off|cancel|without|do not (?:use|apply|want)|not use|delete)"
)

# --- allergies ---------------------------------------------------------------------------------------

ALLERGIC_TO = _words(
    r"(?:i am|we are|he is|she is|they are|(?:my|our|the|her|his) [\w ]{1,24}? (?:is|are)|one of us is|someone is|i am also|am|is)(?: \w+)? (?:allergic|intolerant|sensitive) (?:to|against)"
)
HAS_ALLERGY = _words(
    r"(?:i|we|he|she|they|(?:my|our|the) \w+)(?: also)? (?:have|has|have got|has got|suffer from|suffers from|got)(?: a| an)?(?: \w+)?? (?P<what>\w+(?: and \w+)?) (?:allergy|allergies|intolerance)"
)
AN_ALLERGY = _words(
    r"(?:(?:there is |because of |due to |with )?(?:a |an |my |severe |bad |serious )*)(?P<what>\w+(?: and \w+)?) (?:allergy|allergies|intolerance)(?: here| please)?"
)
HAS_ALLERGY_TO = _words(
    r"(?:(?:i|we|he|she|they|(?:my|our|the) \w+) (?:have|has|have got|has got|suffer from) )?(?:a|an|my|severe)? ?(?:bad |severe |serious )?(?:allergy|allergies|intolerance)(?: is| are)? (?:to|against)"
)
INTOLERANT = _words(
    r"(?:i am|we are|he is|she is|(?:my|our) \w+ (?:is|are)) (?:very |highly |also |both |all |a )*(?:(?P<what>\w+) intolerant|(?P<coeliac>coeliac|celiac|a coeliac|a celiac)(?: disease)?)"
)
CANNOT_EAT = _words(
    r"(?:i|we|he|she|(?:my|our) \w+) (?:can not|must not|am not allowed to|is not allowed to|may not)(?: really)? (?:eat|have|tolerate|digest|stand)(?: any)?"
)
NO_I_AM_ALLERGIC = _words(
    r"(?:no|without(?: any)?|hold the|leave out the|not any) (?P<what>\w+(?: (?:and|or) \w+)?)(?: (?:please|at all|in it|on it|in there|though))*(?: ,)?(?: because| as| since| cause| for| and| cuz)?(?: (?:i am|we are|he is|she is|my \w+ is|she|he|am|really))+ (?:very |highly |badly |severely |deadly )?allergic(?: to (?:it|that|them|those))?"
)
ALLERGENS = {
    "nut": "nuts", "nuts": "nuts", "tree nuts": "tree nuts", "tree nut": "tree nuts", "peanut": "peanuts",
    "peanuts": "peanuts", "gluten": "gluten", "wheat": "wheat", "milk": "milk", "dairy": "dairy",
    "lactose": "lactose", "egg": "eggs", "eggs": "eggs", "soy": "soy", "soya": "soy", "fish": "fish",
    "shellfish": "shellfish", "crustaceans": "crustaceans", "crustacean": "crustaceans",
    "seafood": "seafood", "sesame": "sesame", "celery": "celery", "mustard": "mustard",
    "lupin": "lupin", "sulphites": "sulphites", "sulfites": "sulphites", "molluscs": "molluscs",
    "mollusks": "molluscs", "shrimp": "shrimp", "almonds": "almonds", "cashews": "cashews",
    "hazelnuts": "hazelnuts", "walnuts": "walnuts", "pistachios": "pistachios", "pork": "pork",
    "alcohol": "alcohol", "garlic": "garlic", "onion": "onions", "onions": "onions",
    "strawberries": "strawberries", "tomatoes": "tomatoes", "tomato": "tomatoes", "corn": "corn",
}  # fmt: skip
"""What people are allergic to, as it is written on an order."""

RELATED = {
    "dairy": ("milk", "lactose"), "lactose": ("milk", "dairy"), "milk": ("milk", "dairy", "lactose"),
    "wheat": ("gluten", "wheat"), "gluten": ("gluten", "wheat"),
    "tree nuts": ("tree nuts", "nuts", "almonds", "walnuts", "hazelnuts", "cashews"),
    "nuts": ("nuts", "nut", "tree nuts", "almonds", "walnuts", "hazelnuts", "cashews", "peanuts"),
    "shellfish": ("shellfish", "crustaceans", "molluscs"), "seafood": ("fish", "crustaceans", "molluscs"),
    "eggs": ("egg", "eggs"), "soy": ("soy", "soya"), "peanuts": ("peanuts", "peanut"),
}  # fmt: skip
"""What a menu may call the same thing."""

# --- the evening -------------------------------------------------------------------------------------

STARS = _words(
    r"(?:(?:i|we)(?: would| will)?(?: give| rate| say)?(?: it| you| this| that)?(?: a| an)? ?)?(?P<number>\d+(?:[.,]\d+)?|zero|one|two|three|four|five|six|seven|eight|nine|ten)(?P<half> (?:and a half|point five|1 2))?(?P<scale> (?:stars?|points?)| (?:out of|/|of) (?P<most>\d+|five|ten|ten stars|five stars)(?: stars)?)?"
)
THE_RATING = _words(r"(?:stars?|rating|rate|out of (?:five|ten|5|10)|points?)")
CAN_IT_BE = _words(
    r"(?:can|could) (?:it|that|they|those|one of (?:them|those)|both|(?:the|my) .{1,40}) (?:be|come) .*"
)
"""Asks politely for something on the order to be different."""
RATES_ANEW = _words(
    r"(?:(?:actually|sorry|no|wait|i (?:would like|want|need) to|can i|could i|please)(?: ,)? )*(?:change|correct|update|make) (?:(?:my|the) (?:rating|stars|score)|it|that)(?: to| into)? \w+(?: stars?)?(?: please)?"
)
"""Gives another rating than before."""
BECAUSE = frozenset("because and but as since though although cause however".split())

# --- notes -----------------------------------------------------------------------------------------

NOTE = _words(
    r"(?:(?:please |can you |could you )?(?:add|leave|make|write|put)(?: down)?(?: in)? (?:a |the )?(?:note|message|comment)(?: for the (?:kitchen|chef|cook|driver|courier))?|(?:please )?note|(?:please )?tell the (?:kitchen|chef|cook|driver|courier)|(?:special )?(?:instructions?|requests?)(?: are| is)?)(?: that| to| saying| which says| with| :| ,)*"
)
MY_CONTACT = _words(
    r"my (?:\w+ )?(?:number|phone|cell|mobile|telephone|email|e mail|mail)|(?:call|text|ring|reach|phone|mail|email) me"
)
"""Says that a number or an address is the guest's own, also within a note."""

DOORSTEP = _words(
    r"(?:please )?(?:ring (?:the|my|at the) (?:door ?)?bell.*|do not ring.*|leave (?:it|them|the food|everything) (?:at|by|in front of|outside|on|with) (?:the|my) .*|(?:call|text|phone) (?:me )?when (?:you|the driver|he|she|it).*|the (?:door ?)?bell (?:is|does).*|(?:the |my )?(?:buzzer|entry code|door code|gate code) (?:is|says).*|it is (?:on )?the \w+ floor.*|no need to ring.*|knock .*)"
)

AROUND = frozenset(
    "please thanks thank you ok okay and yes sure um uh well so just then i think".split()
)
"""Words around a short answer that say nothing."""
