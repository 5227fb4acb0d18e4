"""English words by what they are: foods, common words, and words that only say how something is."""

from bella_vista.local.english import lexicon, numbers
from bella_vista.local.english.everyday import EVERYDAY
from state.menu.words import stem

FUNCTION_WORDS = frozenset(
    word
    for phrase in lexicon.PHRASES
    if lexicon.PHRASES[phrase] != lexicon.FILLER
    for word in phrase.split()
) | frozenset(
    "is are was be i we you he she they it do does did have has had will would can could may at by"
    " what which who when where why how if not am me us him our your".split()
)
"""Words that carry no dish's name by themselves."""

ADJECTIVES = frozenset(
    "green red white black brown yellow hot cold iced fresh house special mixed plain sweet spicy"
    " grilled fried baked roast roasted classic large big small little medium regular extra double"
    " single half full whole warm crispy deep homemade home soft hard dry dark light long short new"
    " old day daily seasonal local organic traditional original deluxe super mini mega king chef"
    " french italian english german greek indian chinese american turkish thai mexican spanish"
    " morning evening lunch dinner breakfast good great".split()
)
"""Words that say how a dish is and not what it is: one of them alone names no dish."""

VARIANTS = frozenset(
    "zero diet light lite tall venti deluxe supreme special max premium ultimate jumbo xl xxl junior senior skinny"
    " vegan vegetarian veggie halal kosher gluten lactose sugar decaf iced frozen grilled fried baked roasted"
    " smoked stuffed breaded crispy spicy sweet sour salted unsalted mini mega super bbq barbecue".split()
)
"""Words that make another dish of a dish: never passed over beside one."""

JOINTS = frozenset("a an the of and n e y und et with de di al alla au aux la le".split())
"""Words of a dish's name that guests leave out."""

FOODS = frozenset(
    "almond anchovy apple apricot artichoke asparagus aubergine avocado bacon bagel banana barley"
    " basil bass bean beans beef beer beet beetroot berry bhaji biryani biscuit bread brie broccoli"
    " broth brownie bun burger burrito butter cabbage cake calzone calamari caper capers caramel"
    " carrot cashew cauliflower caviar celery cereal chai champagne cheddar cheese cheesecake cherry"
    " chestnut chia chicken chickpea chili chips chocolate chorizo chutney cider cinnamon clam cocoa"
    " coconut cod coffee coke cola coleslaw cookie coriander corn crab cracker cranberry cream crepe"
    " croissant cucumber cumin cupcake curd currant curry custard dahl dates dill donut doughnut"
    " duck dumpling egg eggplant eggs espresso falafel fanta fennel feta fig fish flour focaccia"
    " fries fruit garlic gelato gin ginger gnocchi goat gouda grape grapes gravy guacamole gyros"
    " haddock hake halibut ham hamburger hazelnut herb herring honey hotdog hummus ice jam jelly"
    " juice kale kebab ketchup korma lager lamb lasagne latte leek lemon lemonade lentil lettuce"
    " lime liver lobster macaroni mango maple margarine martini mayo mayonnaise meat meatball melon"
    " milk mint mocha mojito mozzarella muffin mushroom mussel mustard mutton naan nacho nachos"
    " noodle noodles nougat nut nuts oat oats octopus oil olive olives omelette onion orange oyster"
    " paella pancake paneer panini papaya paprika parmesan parsley pasta pastrami pastry pate peach"
    " peanut pear peas pecan pepper pepperoni pepsi pesto pickle pie pilsner pineapple pint pistachio"
    " pita pizza plum polenta pomegranate popcorn pork porridge port potato prawn prawns pretzel"
    " prosciutto prosecco pudding pumpkin quesadilla quiche quinoa rabbit radish raisin ramen"
    " raspberry ravioli ribs rice ricotta risotto rocket roll rum rye saffron sage salad salami"
    " salmon salsa salt samosa sandwich sardine sashimi sauce sausage scallop scampi scone seafood"
    " seaweed sesame shake shrimp smoothie snail sorbet soup soy spaghetti spinach sprite spinach"
    " squash squid steak stew strawberry sugar sushi syrup taco tacos tapas tart tea tempura tequila"
    " thyme toast tofu tomato tonic tortilla trout truffle tuna turkey turnip udon vanilla veal"
    " vegetable vinegar vodka waffle walnut wasabi water watermelon whisky wine wings wrap yogurt"
    " yoghurt zucchini ale soda stout cava whiskey brandy cognac liqueur sangria spritz".split()
)
"""Things to eat and drink that everybody knows: none of them is a slip of the pen for another."""

COMMON = (
    FOODS
    | frozenset(word for phrase in lexicon.PHRASES for word in phrase.split())
    | frozenset(numbers.UNITS)
    | frozenset(numbers.TENS)
    | frozenset(numbers.ORDINALS)
    | frozenset(
        "about above address after age ago all allergic allergy almost alone already always among"
        " amount anybody anyone anything anyway apart apartment april area around ask asked august"
        " avenue avoid awesome baby back bad bag bank base bath beach bear because bed been before"
        " behind believe bell below beside between bike bill birthday bit block boat body book both"
        " bottom bought box boy bread break bring broken brother brought building business busy buy"
        " call called came car card care careful carry case cash change charge cheap check chief"
        " child children choice choose city class clean clear clock close closed coat code collect"
        " come coming company complain contain contains cook cooked cool corner correct cost could"
        " country coupon course credit currently customer dad daily dairy date daughter days debit"
        " december delay deliver delivered delivery deposit did difference different dine direct dirty"
        " discount dish dishes does dog dollar dollars done door down drink drinks drive driver each"
        " early east easy eat eating eaten either else email end enjoy enough entrance euro euros"
        " event ever every exactly example expect expensive explain fact family far fast father feel"
        " fee female february few figure find fine finish finished fire five flat floor follow food"
        " forgot form forward found four free friday friends from front full fun funny game gate gave"
        " gift girl girlfriend glad glass gluten goes going gold gone gotten great group guess guest"
        " guy had halal half hand happen happy hard has hate have head hear heard heart heat heavy"
        " hello help her here high hill hold home hope hotel hour hours house how hungry hurry husband"
        " idea ignore important inside instead into invoice itself january job join july june keep"
        " kid kids kind kitchen knew know kosher lactose lady lane language large last late later"
        " least leave left let letter level life line list listen live living local located location"
        " lock long look looking lost loud low mail make man manager many march mark may mean meant"
        " mention menu message met method middle mine minute minutes miss mistake mom moment monday"
        " money month more most mother move much mum must name near need never new next nice night"
        " noise none noon north note nothing november number october off offer office often old once"
        " one online only open opening order other our outside over own paid pair park parking part"
        " party past pay payment people percent person phone pick pickup picture piece place plan"
        " plane play please plus pocket point police possible post postcode prefer present pretty"
        " price prices print problem program pull put question quick quiet quite rain reach read"
        " ready real really reason receipt receive recommend record remember repeat reply request"
        " reserve restaurant return ride ring road robot room round rules safe said same saturday"
        " save saw say school seat seats second see seem seen sell send sent september serve served"
        " service set several shall share shop should show sick side sign since single sister sit"
        " sitting six sleep slow smoke someone something son soon sound south speak special spend"
        " spoke spot square stand star stars start station stay step still stop store story street"
        " strong stuff such suggest summer sun sunday sure system table takes talk taste tell ten"
        " terrace than that the their them there they thing things think this those thought three"
        " through thursday till time times tip today together tomorrow tonight top total touch town"
        " train tried true try tuesday turn type under understand until upstairs use used usual"
        " vegan vegetarian visit agent voucher wait waiter waiting walk wall want warm was wash watch"
        " way wednesday week weekend weight welcome well went west what wheat wheelchair when where"
        " which while who whole why wife wifi wind window winter wish with without woman wonder wood"
        " word work world worry worse worst would write wrong year years yesterday young your zip"
        " spicy spice mild sweet sour salty hot cold weather brown bean late line lame dine mile mice"
        " nail hail tail male sale pale mall tall wall hall ball fall call".split()
    )
)
"""Words that everybody knows and that are therefore no slips of the pen."""

_COMMON_STEMS = frozenset(stem(word) for word in COMMON)
_FOOD_STEMS = frozenset(stem(word) for word in FOODS)
_ENDINGS = ("ing", "ed", "er", "est", "ly", "s", "es", "d", "r", "ers", "y", "less", "ness")


def is_common(word: str) -> bool:
    """Whether everybody knows a word, also in its other forms.

    >>> is_common("speaking"), is_common("paying"), is_common("tirimasu")
    (True, True, False)
    """
    if word in COMMON or word in EVERYDAY or stem(word) in _COMMON_STEMS:
        return True
    for ending in _ENDINGS:
        root = word.removesuffix(ending)
        if root == word or root in FUNCTION_WORDS:
            continue  # "buter" is no form of "but"
        if len(root) > 2 and (root in COMMON or f"{root}e" in COMMON):
            return True
        if len(root) > 3 and root[-1] == root[-2] and root[:-1] in COMMON:
            return True
    return False


def is_food(word: str) -> bool:
    """Whether everybody knows a word as something to eat or drink, be it one or several.

    >>> is_food("mushrooms"), is_food("spoon")
    (True, False)
    """
    return word in FOODS or stem(word) in _FOOD_STEMS


OFTEN_MISSPELT = (
    *("without", "extra", "double", "large", "medium", "small", "delivery", "delivered", "deliver"),
    *("pickup", "please", "cancel", "remove", "change", "instead", "vegetarian", "allergic"),
    *("allergy", "address", "tomorrow", "thanks", "order", "another", "everything", "half"),
    *("actually", "contains", "ingredients", "vegan", "gluten", "minutes", "o'clock", "tonight"),
    *("opening", "regular", "without", "light", "credit", "percent", "coupon", "voucher"),
)
"""Words of an order that are corrected like a menu's."""

COMPOUNDS = frozenset(
    (
        *("fish and chips", "rum and coke", "gin and tonic", "mac and cheese", "bacon and eggs"),
        *(
            "ham and eggs",
            "surf and turf",
            "bangers and mash",
            "biscuits and gravy",
            "rice and beans",
        ),
        *(
            "chicken and waffles",
            "steak and eggs",
            "steak frites",
            "bread and butter",
            "chicken and chips",
        ),
        *(
            "vodka and coke",
            "whiskey and coke",
            "peanut butter and jelly",
            "egg and chips",
            "pie and mash",
        ),
        *(
            "bread and cheese",
            "cheese and onion",
            "salt and vinegar",
            "chips and salsa",
            "chips and dip",
        ),
        *(
            "beans on toast",
            "cheese on toast",
            "eggs on toast",
            "soup and salad",
            "milk and cookies",
        ),
    )
)
"""Names with an "and" in them that everybody knows: one thing, whether it is on the menu or not."""

VESSELS = frozenset(
    {"glass", "glasses", "cup", "cups", "bottle", "bottles", "can", "cans", "bowl", "mug"}
)
"""What something may be served in, said of a dish that has only one size."""
