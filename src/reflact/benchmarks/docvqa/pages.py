"""What the pages of the sample say, and what is asked about them. People, places and companies are made up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reflact.core.names import Part


@dataclass(frozen=True, slots=True)
class Form:
    """Boxes with a label and a value each."""

    topic: ClassVar[str] = "form"
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first row holds the headings."""

    topic: ClassVar[str] = "table/list"
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Letter:
    """Lines of text."""

    topic: ClassVar[str] = "free_text|layout"
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its accepted answers."""

    question: str
    golds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its number as a document, what is drawn, and what is asked."""

    number: int
    title: str
    subtitle: str
    body: Form | Table | Letter
    footer: str
    questions: tuple[Question, ...]


def sample_pages() -> dict[Part, tuple[Page, ...]]:
    """Return the pages of each part; no page is in two."""
    return {Part.TRAIN: _TRAIN, Part.VAL: _VAL, Part.TEST: _TEST}


def _ask(*pairs: tuple[str, str | tuple[str, ...]]) -> tuple[Question, ...]:
    return tuple(Question(text, (golds,) if isinstance(golds, str) else golds) for text, golds in pairs)


_TRAIN = (
    Page(
        1,
        "Tamber Ferry Company",
        "Lost property - report",
        Form(
            (
                ("Found by", "Ilse Marrow"),
                ("Date found", "14 March 1987"),
                ("Place", "Upper deck, row 9"),
                ("Object", "Green umbrella with a brass handle"),
                ("Shelf", "C-31"),
            )
        ),
        "Keep for 90 days, then sell.",
        _ask(
            ("Who found the umbrella?", "Ilse Marrow"),
            ("On which date was the umbrella found?", ("14 March 1987", "March 14, 1987")),
            ("On which shelf is the umbrella kept?", "C-31"),
        ),
    ),
    Page(
        2,
        "Pellworth Market Hall",
        "Stalls let in the year 1962",
        Table(
            (
                ("Goods", "Stalls", "Rent"),
                ("Cheese", "12", "$1,340"),
                ("Rope", "7", "$815"),
                ("Lamps", "4", "$602"),
                ("Eels", "19", "$2,075"),
            )
        ),
        "Rents are for the whole year.",
        _ask(
            ("How many stalls sold rope in the hall?", "7"),
            ("What is the rent of the cheese stalls?", ("$1,340", "1,340")),
            ("Which goods had the most stalls?", "Eels"),
        ),
    ),
    Page(
        3,
        "Observatory of Kolt",
        "Hill Road 4, Kolt",
        Letter(
            (
                "2 October 1931",
                "",
                "Dear Dr. Vane,",
                "",
                "the mirror arrived on Tuesday, packed in straw",
                "and without a scratch. Please thank the carter,",
                "Mr. Otto Brill. We paid him 45 crowns.",
                "",
                "The dome will be closed until the rain ends.",
                "",
                "Yours sincerely,",
                "Nora Pell, Keeper of the Instruments",
            )
        ),
        "Copy for the files",
        _ask(
            ("To whom is the observatory's letter written?", ("Dr. Vane", "Dr Vane")),
            ("How much was the carter of the mirror paid?", "45 crowns"),
            ("Who signed the observatory's letter?", "Nora Pell"),
        ),
    ),
    Page(
        4,
        "Municipal Baths of Doune",
        "Season ticket",
        Form(
            (
                ("Holder", "Anselm Quire"),
                ("Ticket no.", "00482"),
                ("Valid until", "30/09/1974"),
                ("Paid", "$18.50"),
            )
        ),
        "Not valid on Sundays.",
        _ask(
            ("What is the number of the season ticket?", "00482"),
            ("Until when is the season ticket valid?", "30/09/1974"),
            ("On which day is the season ticket not valid?", ("Sundays", "Sunday")),
        ),
    ),
)

_VAL = (
    Page(
        5,
        "Hesper Herring Society",
        "Catch by boat, week 23",
        Table(
            (
                ("Boat", "Barrels", "Skipper"),
                ("Grey Anna", "58", "T. Holm"),
                ("Patience", "103", "L. Reyk"),
                ("Little Owl", "36", "M. Sand"),
            )
        ),
        "Weighed by the harbour master.",
        _ask(
            ("How many barrels did the Patience catch?", "103"),
            ("Who is the skipper of the Little Owl?", ("M. Sand", "Sand")),
            ("For which week is the catch listed?", ("23", "week 23")),
        ),
    ),
    Page(
        6,
        "Lyd Valley Railway",
        "Application for leave",
        Form(
            (
                ("Name", "Bettina Crowle"),
                ("Post", "Signal keeper, Box 12"),
                ("From", "3 June 1955"),
                ("To", "17 June 1955"),
                ("Approved by", "H. Stannard"),
            )
        ),
        "Form LV-7",
        _ask(
            ("Who approved the leave?", "H. Stannard"),
            ("What is the first day of the leave?", "3 June 1955"),
            ("What is the post of the applicant?", ("Signal keeper, Box 12", "Signal keeper")),
        ),
    ),
    Page(
        7,
        "Marrow & Daughters",
        "Bridge builders since 1871",
        Letter(
            (
                "Tamber, 9 May 1902",
                "",
                "To the Town Council",
                "",
                "The folding bridge needs 38 new planks of oak.",
                "We ask for $212 and will begin on 1 July.",
                "",
                "Respectfully,",
                "Greta Marrow",
            )
        ),
        "Telephone: Tamber 16",
        _ask(
            ("How many planks does the bridge need?", ("38", "38 new planks")),
            ("Since when have Marrow & Daughters built bridges?", "1871"),
        ),
    ),
    Page(
        8,
        "Ossel Dairy",
        "Delivery note 7719",
        Form(
            (
                ("Deliver to", "Hotel Anchor, Quay Lorne"),
                ("Goods", "24 wheels of Wet Stone"),
                ("Weight", "61.2 kg"),
            )
        ),
        "Received in good order: J. Penn",
        _ask(
            ("What is the weight of the cheese that was delivered?", "61.2 kg"),
            ("Who received the cheese?", "J. Penn"),
        ),
    ),
)

_TEST = (
    Page(
        9,
        "Underfell Caves",
        "Visitors by month, 1990",
        Table(
            (
                ("Month", "Adults", "Children"),
                ("May", "1,204", "317"),
                ("June", "1,866", "540"),
                ("July", "2,951", "1,422"),
                ("August", "2,730", "1,389"),
            )
        ),
        "Closed from November to April.",
        _ask(
            ("How many children came in June?", "540"),
            ("How many adults came in July?", ("2,951", "2951")),
            ("In which month came the fewest adults?", "May"),
            ("In which year were the visitors of the caves counted?", "1990"),
        ),
    ),
    Page(
        10,
        "Brennick Town Library",
        "Reader's card",
        Form(
            (
                ("Reader", "Tobias Fenn"),
                ("Card", "B 2203-K"),
                ("Street", "41 Roller Lane"),
                ("Librarian", "Ada Lindqvist"),
            )
        ),
        "Fine: 5 cents a day",
        _ask(
            ("What is the number of the reader's card?", "B 2203-K"),
            ("In which street does the reader live?", ("41 Roller Lane", "Roller Lane")),
            ("What is the fine for a day?", "5 cents"),
        ),
    ),
    Page(
        11,
        "Sable Key Gardens",
        "Office of the Botanist",
        Letter(
            (
                "21 January 1968",
                "",
                "Dear Ms. Orrin,",
                "",
                "the moon ferns that you sent have all taken root.",
                "Bed 14 is now full. We had to move the sea kale",
                "to the eastern cliffs.",
                "",
                "Next order: 60 pots, by the boat of 5 February.",
                "",
                "With thanks,",
                "Casper Thule",
            )
        ),
        "Ref. SK/88",
        _ask(
            ("Which bed is full?", ("Bed 14", "14")),
            ("How many pots are to be sent next?", ("60", "60 pots")),
            ("What is the reference of the botanist's letter?", ("SK/88", "Ref. SK/88")),
        ),
    ),
    Page(
        12,
        "Clockmakers' Guild",
        "Accounts for 1923",
        Table(
            (
                ("Item", "Income", "Expense"),
                ("Dues", "$920", "-"),
                ("Repairs", "$3,415", "$1,180"),
                ("Feast", "$75", "$640"),
                ("Rent", "-", "$360"),
            )
        ),
        "Audited by P. Lomax",
        _ask(
            ("What did the feast of the guild cost?", ("$640", "640")),
            ("What was the guild's income from repairs?", ("$3,415", "3,415")),
            ("Who audited the accounts of the guild?", "P. Lomax"),
        ),
    ),
    Page(
        13,
        "Isle Post",
        "Parcel declaration",
        Form(
            (
                ("Sender", "Wilma Hark, Pier 2"),
                ("Contents", "Six jars of plum jam"),
                ("Value", "$9.60"),
                ("Posted", "11 Dec 1949"),
            )
        ),
        "Stamp here: PAID",
        _ask(
            ("What is the value of the parcel?", "$9.60"),
            ("What does the parcel hold?", ("Six jars of plum jam", "plum jam")),
            ("When was the parcel posted?", ("11 Dec 1949", "11 December 1949")),
        ),
    ),
)
