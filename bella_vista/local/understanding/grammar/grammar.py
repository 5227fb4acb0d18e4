"""The grammar of an order and its prices: what a word may do where it stands, and what that costs.

An order is a row of items. Of an item, what stands before its head is said in the place ``before``, what
follows the head in ``after``; outside any item is ``out``. A rule reads: in this place, on a word of this
class, if this holds, do these things, go to that place, at that price. There is no rule for where an item
ends: beginning another one has a price. A reading is the cheapest path through all words of a line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BEAM = 16
"""States that are kept at each word."""
MEANINGS = 2
"""Meanings that are kept of states that are otherwise equal."""
WINDOW = 3.5
"""How much dearer than the best a state may be to be kept."""

RULES = """
# in           sees       if                 does                    then    costs
# --- how many, and which ---------------------------------------------------------------------------------
  any          number     -                  begin count             before  begin.number
  before       number     uncounted          count                   before  0.1
  before       number     corrected          count                   before  0.1
  after        number     headed             count                   after   0.9
  after        number     times              count                   after   0.1
  after        number     combined           tally                   after   0.0
  after        number     becoming           become count            after   0.1
  after        number     becoming           tally                   after   0.05
  after        number     -                  tally                   after   0.2
  before       number     optioned           tally                   before  0.6
  after        everyone   unnumbered         count                   after   -0.1
  any          everyone   -                  -                       same    0.1
  any          everyone-gets -               -                       same    0.05
  before       number     carried            tally                   before  0.1
  any          half-of    -                  begin half_of           after   begin.ref
  any          fewer      -                  begin fewer             before  begin.number
  any          few        -                  begin few               before  begin.number
  any          a          -                  begin one_of            before  begin.a
  before       a          unlisted           article                 before  0.1
  before       a          optioned_on        -                       before  0.3
  after        a          becoming           become                  after   0.0
  after        a          joined             -                       after   0.0
  after        a          combined           -                       after   0.0
  after        a          listed             -                       after   0.3
  after        a          undealt            -                       after   0.7
  after        a          dealt              -                       after   1.3
  any          the        -                  begin definite          before  begin.the
  before       the        -                  definite                before  0.05
  after        the        -                  joint                   after   0.0
  any          ordinal    -                  begin ordinal           before  begin.ref
  before       ordinal    unpaused           ordinal                 before  0.1
  any          more       -                  begin more              before  begin.number
  after        more       becoming           become more             after   0.1
  before       further    counted            more                    before  0.0
  out          further    -                  begin more              before  0.6
  before       of         shared             of                      before  0.0
  before       of-them    counted_only       ref                     after   0.0
  after        of-them    -                  -                       after   0.9
# --- the head --------------------------------------------------------------------------------------------
  out,after    dish       -                  begin head              after   begin.dish
  before       dish       -                  head                    after   0.0
  before       dish       beside             put head                after   0.0
  before       dish       otherwise          begin head              after   begin.dish
  after        dish       becoming           become head             after   0.2
  after        dish       refines            narrow                  after   open.head
  after        dish       kindred            -                       after   open.kind
  after        dish       own                -                       after   0.1
  after        dish       part               part                    after   open.part
  after        variant    part               part                    after   open.part
  after        dish       combo_of           combo                   after   0.1
  any          one        -                  begin ref               after   begin.one
  after        one        adjoining          -                       after   0.1
  after        one        sized_just_now     -                       after   -0.3
  after        one        turned             -                       after   0.1
  after        one        combos             -                       after   0.1
  after        all        combos             -                       after   0.1
  after        all        combined           both                    after   0.05
  after        all        several            -                       after   0.05
  after        other      combos             -                       after   0.1
  before       one        single             ref                     after   0.1
  out,after    it         -                  begin ref               after   begin.ref
  any          turned     -                  begin turned            after   begin.ref
  before       it         told               ref                     after   0.6
  before       it         said_before        begin ref               after   begin.ref
  out,after    them       -                  begin ref               after   begin.ref
  before       them       told               ref                     after   0.4
  any          other      -                  begin ref               after   begin.ref
  before       other      unsaid             ref                     after   0.1
  before       other      put                ref                     after   0.0
  before       all        put_on_all         ref                     after   0.0
  before       all        put_on_counted     ref                     after   1.0
  before       it         put                ref                     after   0.0
  before       them       put_on_all         ref                     after   0.0
  before       them       put_on_counted     ref                     after   1.0
  before       whole      put                ref                     after   0.0
  before       having     put_there          ref                     after   0.0
  before       whole      beside_all         put ref                 after   0.2
  before       all        beside_all         put ref                 after   0.2
  before       rest       put                ref                     after   0.0
  any          rest       -                  begin ref               after   begin.ref
  any          all        -                  begin ref               after   begin.all
  any          whole      -                  begin ref               after   begin.whole
  before       whole      -                  ref                     after   0.4
  before       all        verbless           ref                     after   0.4
  any          having     known              begin ref               after   begin.all
  any          same       -                  begin ref               after   begin.ref
  before       same       pointed            ref                     after   0.1
  before       same       -                  ref                     after   0.4
  after        except     widening           begin except            before  0.1
  out          except     ahead              begin except            before  0.1
  after        same       headful            copied                  after   0.2
  before,after free       optioned           free                    same    0.0
  any          undo       -                  begin ref               after   begin.ref
  any          put-back   -                  begin ref               after   -0.1
  after        kept       ordered            kept                    same    -0.1
  before,after back       -                  back                    same    0.0
  after        total      recounted          total                   after   -0.1
  before,after as-well    -                  besides                 same    -0.1
  any          again      -                  begin ref               after   begin.ref
  after        again      -                  -                       after   0.4
# --- sizes -----------------------------------------------------------------------------------------------
  any          size       -                  begin size              before  begin.size
  before       size       unsized            size                    before  0.0
  before       size       corrected          size                    before  0.1
  after        size       becoming           become size             after   0.1
  after        size       unsized            size                    after   open.size
# --- what is done to it, and what is on it ---------------------------------------------------------------------------------------
  any          done       -                  begin done              before  begin.ref
  any          option     -                  begin option            before  begin.option
  before       option     -                  option                  before  open.before
  after        option     becoming           become option           after   open.option
  any          option     swapping           begin named             after   begin.ref
  before       option     swapped            named                   after   0.0
  before       group      swapped            named                   after   0.0
  before,after option     replacing          replaced                same    0.1
  before,after size       replacing          outdone                 same    0.1
  before,after number     replacing          outdone                 same    0.1
  any          group      swapping           begin named             after   begin.ref
  after        group      becoming           become option           after   0.3
  after        option     denying            affirm option           after   open.affirm
  before       option     denying            affirm option           before  open.affirm
  after        option     dropping           drop                    after   open.drop
  after        option     -                  option                  after   open.option
  before       group      pending            option                  before  0.1
  after        group      pending            option                  after   0.1
  before       group      numbered           uncount option          before  0.3
  any          group      -                  heading                 same    0.8
  after        group      dropping           drop                    after   0.3
  any          amount     -                  begin pend              before  begin.amount
  before       amount     -                  pend                    before  0.1
  after        amount     -                  pend                    after   0.05
  after        amount     trailing           much                    after   0.5
  any          no         -                  begin deny              before  begin.no
  any          no-extra   -                  begin deny              before  begin.no
  before       no-extra   -                  deny                    before  0.3
  after        no-extra   -                  deny                    after   0.0
  before       no         -                  deny                    before  0.3
  after        no         -                  deny                    after   0.0
  before       half       -                  pend                    before  0.1
  out          half       -                  begin pend              before  0.6
  after        half       -                  pend                    after   0.1
  after        other-half -                  pend                    after   0.1
  before,after half       taken              halved                  same    0.1
  before,after other-half taken              halved                  same    0.1
  after        halves     optioned           halved                  after   0.05
  after        halves     -                  pend                    after   0.15
  after        other-halves optioned         halved                  after   0.05
  after        other-halves -                pend                    after   0.15
  before       halves     optioned           halved                  before  0.15
  before       other-halves optioned         halved                  before  0.15
  before,after side       optioned           beside                  same    0.0
  after        side       named              -                       same    0.6
  out          side       -                  begin beside            before  0.9
  after        solely     optioned           only                    after   -0.1
  after        only       -                  only                    after   0.0
  any          plain      -                  begin plain             before  begin.plain
  before       plain      unalternative      plain                   before  0.2
  after        plain      alternative        -                       after   3.0
  after        plain      unalternative      plain                   after   0.3
  after        nothing-but -                 only bare               after   0.0
  after        none       -                  bare                    after   0.2
  before,after note       -                  note                    same    0.55
  out          note       -                  begin note              before  1.2
  after        each       -                  each                    after   0.05
  before,after kept       known              kept                    same    0.0
  any          keep       -                  verb                    same    0.05
  before,after off        -                  off                     same    open.off
  after        dismiss    on_order           off                     same    open.off
# --- verbs and joints ------------------------------------------------------------------------------------
  any          add        -                  verb                    same    0.05
  any          remove     -                  verb                    same    0.1
  any          change     -                  verb                    same    0.1
  any          move       -                  verb                    same    0.05
  any          swap       -                  verb                    same    0.1
  any          instead-of -                  verb                    same    0.15
  any          instead    -                  instead                 same    0.1
  any          exactly    -                  exactly                 same    0.0
  any          correct    -                  correct                 same    0.15
  after        should     -                  should                  after   0.1
  before       should     -                  should                  after   0.4
  after        be         said_of_it         should                  after   0.1
  after        to         changing           become                  after   0.0
  after        to         lowering           should                  after   0.3
  after        to         speaking_of        should                  after   0.1
  any          and        -                  joint                   same    0.0
  any          or         -                  joint                   same    0.1
  any          but        -                  joint                   same    0.0
  any          with       -                  joint                   same    0.0
  any          on         -                  joint                   same    0.05
  any          for        -                  joint                   same    0.05
  any          times      -                  joint                   same    0.1
  any          comma      -                  joint                   same    0.0
  any          stop       -                  joint                   same    0.0
"""

JOINTS = "nothing and with the verb comma stop but on or times correct".split()
"""Joints that may stand before a word, in the order of the prices' columns."""
NOTHING, AND, WITH, THE, AFTER_VERB, COMMA, STOP, BUT, ON, OR, TIMES, CORRECT = range(12)

PRICES = """
# begins an item with      nothing and   with  the   verb  comma stop  but   on    or    times correct
  begin.number             0.3     0.0   0.9   0.8   0.0   0.0   0.0   0.0   0.5   0.3   3.0   0.0
  begin.a                  0.45    0.1   0.9   0.8   0.0   0.1   0.0   0.1   1.0   0.4   1.0   0.0
  begin.the                0.5     0.25  0.6   0.8   0.0   0.2   0.0   0.2   0.05  0.5   1.0   0.0
  begin.size               0.6     0.3   0.5   0.1   0.1   0.2   0.1   0.4   0.8   0.6   1.0   0.1
  begin.dish               1.3     0.6   1.4   0.3   0.3   0.4   0.2   0.5   1.2   0.8   1.5   0.1
  begin.option             2.4     1.3   2.0   1.2   1.4   1.4   0.9   1.3   1.8   2.0   2.5   1.0
  begin.amount             1.3     0.9   1.2   1.0   0.7   0.9   0.5   0.7   1.2   1.2   2.0   0.7
  begin.no                 1.1     0.9   1.0   1.0   0.6   0.8   0.3   0.6   1.2   1.2   2.0   0.6
  begin.plain              1.0     0.6   0.9   0.4   0.5   0.6   0.5   0.6   1.0   1.0   2.0   0.5
  begin.ref                0.9     0.4   0.8   0.2   0.05  0.4   0.2   0.3   0.2   0.6   1.5   0.1
  begin.one                0.3     0.1   0.5   0.1   0.1   0.1   0.1   0.1   0.6   0.4   1.0   0.1
  begin.all                0.3     0.2   0.6   0.3   0.2   0.1   0.1   0.2   0.2   0.6   1.0   0.2
  begin.whole              0.9     0.7   0.6   0.5   0.2   0.6   0.4   0.6   0.3   0.9   1.0   0.4
# goes on with             nothing and   with  the   verb  comma stop  but   on    or    times correct
  open.option              0.3     0.1   0.0   0.2   0.2   0.1   0.4   0.1   0.1   0.3   1.0   0.4
  open.before              0.2     0.1   0.3   0.1   0.2   0.1   0.6   0.3   0.5   0.3   1.0   0.2
  open.affirm              0.5     0.3   9.0   1.0   9.0   0.15  9.0   9.0   0.5   9.0   9.0   0.3
  open.drop                0.6     0.3   0.6   0.1   0.1   0.3   0.4   0.2   0.4   0.1   1.0   0.3
  open.size                0.5     0.8   0.4   0.6   0.3   0.3   0.6   0.6   0.4   1.0   1.0   0.2
  open.head                0.1     1.6   1.6   1.0   1.5   0.5   1.2   1.5   1.2   2.0   2.0   1.5
  open.kind                0.3     9.0   9.0   9.0   9.0   9.0   9.0   9.0   9.0   9.0   9.0   9.0
  open.part                0.5     0.1   0.0   0.1   0.3   0.15  0.5   0.3   0.6   0.5   1.0   0.5
  open.off                 0.2     1.0   1.0   0.6   1.0   0.6   1.0   1.0   0.6   1.0   1.0   0.6
"""

FIRST = 0.2
"""Beginning the first item of a line, whatever it begins with."""
FRAGMENT, HEADLESS = 0.7, 2.5
"""An item without a head: where something is there that it may belong to, and where nothing is."""
CHOSEN_TWICE = 1.5
"""A choice where one of its kind was made already: "a lamb korma, chicken bhuna"."""
LOST_VERB = 4.0
"""A verb within an item that does not say what becomes of it."""
CHOSEN_AFTER_NO = 0.6
"""A choice that some dish cannot be without, right after what is left off: "no rice black beans"."""
COUNTED = 0.4
"""A number of things, or an article, before what is a choice: "make it two sugars", "make it a funghi"."""
LISTED = 1.0
"""A thing that another one becomes, said after "and": "make it two burgers and two colas"."""
MISFIT, NOT_IN_IT = 5.0, 1.6
"""An option or a size the dish cannot have; leaving off what is not in it."""
UNSIZED = 0.8
"""A size said of a dish that has only one price."""
ALREADY = 0.25
"""Asking for what is in a dish anyway."""
UNFOUND = 4.0
"""An amount or a "no" that nothing followed."""
OUT_OF_COMBO = 0.15
"""Beginning another item after a combo, where it may be a part of it: "and a cola"."""
WITHIN = 0.1
"""How much likelier "the coke in the meal" is a part of it than a cola and a meal."""
PAUSED, STOPPED = 0.5, 1.2
"""A head after a pause: "sweet potato fries, large. lemonade" says nothing of the lemonade."""
RATHER_OPTION = 0.8
"""Beginning a dish after a correction where a choice was said last: "potatoes, no, broccoli"."""
UNHALVED = 1.5
"""Putting on one half what lies on the whole of a thing, or not at all."""
KEPT_REMOVING, STOPPED_REMOVING = 0.1, 0.7
"""Whether "and" after a removal goes on removing."""
PASSED = {
    "name": 7.0,
    "part": 3.5,
    "number": 6.0,
    "no": 6.0,
    "word": 4.0,
    "food": 5.0,
    "small": 2.0,
    "common": 0.8,
    "filler": 0.02,
}
"""Passing over a word, by what it is."""
STRANGE = 2.0
"""An unknown word behind an option in a list: "chicken tikka, lamb bhuna" rather begins an unknown dish."""
FILLER_ON_NAME = 1.5
"""Taking what the menu calls so for a filler."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the grammar."""

    condition: str
    does: tuple[str, ...]
    then: str
    price: float | tuple[float, ...]
    line: int


def _prices() -> Mapping[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = {}
    for line in PRICES.splitlines():
        words = line.split()
        if words and words[0] != "#":
            found[words[0]] = tuple(float(word) for word in words[1:])
    return found


def rules() -> Mapping[tuple[str, str], Sequence[Rule]]:
    """Return the rules by place and class of word."""
    prices = _prices()
    found: dict[tuple[str, str], list[Rule]] = {}
    for number, line in enumerate(RULES.splitlines()):
        if not line.strip() or line.startswith("#"):
            continue
        places, sees, condition, *does, becomes, price = line.split()
        cost = prices[price] if price in prices else float(price)
        for place in ("out", "before", "after") if places == "any" else places.split(","):
            then = place if becomes == "same" else becomes
            found.setdefault((place, sees), []).append(
                Rule(
                    condition.strip("-"),
                    tuple(one for one in does if one != "-"),
                    then,
                    cost,
                    number,
                )
            )
    return found
