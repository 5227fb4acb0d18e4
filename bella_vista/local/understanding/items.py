"""Things ordered, as far as they are understood: in the guest's words where the menu was not asked yet."""

from dataclasses import dataclass, field, replace

from bella_vista.local.understanding.meaning import NO_PERSON, Draft, LineSeen


@dataclass(eq=False)
class Split:
    """Some of several that are to be different.

    Args:
        count: How many; ``None`` for all that are left.
    """

    count: int | None
    size: str | None = None
    changes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def bare(self) -> bool:
        """Whether nothing is said of them yet."""
        return not (self.size or self.changes or self.notes)


@dataclass(eq=False)
class Item:
    """One thing the guest wants, in their words where the menu has not been asked yet.

    Args:
        words: The guest's words for it.
        names: The dishes it may be; one when it is certain, none when it is not on the menu.
        quantity: How many; ``None`` when "a few" were wanted.
        size: The size as said.
        changes: What is to be different, each as said: "no basil", "half ham", "3 shots".
        unknown: Words that said more about it and were not understood.
        near: What comes close, when it is not on the menu.
        parts: What was chosen for the parts of a combo.
        splits: Some of them that are to be different.
        line: The line of the order it is, if it is there already.
        gone: How many pieces of that line are to be taken off.
        spoken: Where in the line it was spoken of, for the order of commands.
        counted: Whether a number was said.
        yielding: How many of its changes, from the first, give way to later ones.
        copied: Whether it is another of what was ordered before, so that its parts give way.
        notes: What the kitchen is asked to do and no menu lists.
        source: The thing of which it was a part, when only some pieces were to be different.
        waited: Whether it waited for an answer before the guest's last message.
        portions: Whether portions were counted, and no pieces: "two orders of rolls".
        listed: Whether its choices were listed behind a pause: "three cones, vanilla, lemon and mango".
        filling: Whether as many are meant as are still open in a combo: "all biscuits", "the rest thighs".
    """

    words: str
    names: tuple[str, ...]
    quantity: int | None = 1
    size: str | None = None
    changes: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    near: tuple[str, ...] = ()
    parts: list["Item"] = field(default_factory=list)
    splits: list[Split] = field(default_factory=list)
    line: LineSeen | None = None
    gone: int = 0
    spoken: int = 0
    counted: bool = False
    yielding: int = 0
    source: "Item | None" = None
    copied: bool = False
    notes: list[str] = field(default_factory=list)
    waited: bool = False
    portions: bool = False
    listed: bool = False
    filling: bool = False

    @property
    def name(self) -> str | None:
        """The dish, when it is certain."""
        return self.names[0] if len(self.names) == 1 else None

    @property
    def person(self) -> frozenset[str]:
        """The words that point at the person whose line it is."""
        return self.line.person if self.line is not None else NO_PERSON

    @classmethod
    def of_line(cls, line: LineSeen) -> "Item":
        """Take a line of the order as a thing that can be spoken of."""
        return cls(
            words=line.name,
            names=(line.name,),
            quantity=line.quantity,
            size=line.size,
            changes=list(line.modifications),
            line=line,
            yielding=len(line.modifications),
        )

    @classmethod
    def of_draft(cls, draft: Draft, line: "Item | None" = None) -> "Item":
        """Take up a wish that waited for an answer.

        Args:
            draft: The wish.
            line: The line it is about, when it is to change one: what was not said stays as it is.
        """
        given = draft.fields
        name = given.get("name") or (line.name if line else None)
        parts = [
            Item(
                words=str(part.get("name")),
                names=(str(part.get("name")),),
                size=part.get("size"),
                changes=list(part.get("modifications") or ()),
            )
            for part in given.get("parts") or ()
        ]
        if line is not None and "parts" not in given:
            parts = list(line.parts)
        changes = given.get("modifications")
        return cls(
            words=str(name or given.get("words") or ""),
            names=(str(name),) if name else tuple(given.get("possible") or ()),
            quantity=given.get("quantity", line.quantity if line else 1),
            size=given.get("size", line.size if line else None),
            changes=list(changes if changes is not None else line.changes if line else ()),
            parts=parts,
            line=line.line if line else None,
            notes=str(given["note"]).split("; ") if given.get("note") else [],
        )

    def copy(self, quantity: int) -> "Item":
        """Return so many more of the same, on no line."""
        return replace(
            self,
            quantity=quantity,
            changes=list(self.changes),
            parts=[replace(part, changes=list(part.changes)) for part in self.parts],
            notes=list(self.notes),
            unknown=[],
            splits=[],
            line=None,
            gone=0,
            source=None,
        )
