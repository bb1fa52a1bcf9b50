"""The made tasks of the sample: small workbooks, what is asked about them, and a script that does it right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

Rows = list[list[Any]]
Sheets = Mapping[str, Rows]

CELLS, SHEETS = "Cell-Level Manipulation", "Sheet-Level Manipulation"
ROWS = 9
_WARES = ("lamps", "ropes", "bowls", "kites", "combs", "tents", "drums", "saws", "jars", "nets", "bells", "rugs")
_NAMES = ("Ida", "Noor", "Emil", "Tove", "Rafi", "Lena", "Omar", "Suki", "Pia", "Jon")


@dataclass(frozen=True, slots=True)
class Family:
    """Tasks of one kind.

    Attributes:
        kind: Their instruction type.
        instruction: What is asked.
        position: The cells that are compared.
        build: Makes the sheets of an input.
        script: Does the task right.
    """

    kind: str
    instruction: str
    position: str
    build: Callable[[Random], Sheets]
    script: str


def _sales(random: Random) -> Sheets:
    rows: Rows = [["Ware", "Quantity", "Price"]]
    rows += [[ware, random.randint(1, 40), random.randint(100, 9900) / 100] for ware in random.sample(_WARES, ROWS)]
    return {"Sales": rows}


def _orders(random: Random) -> Sheets:
    wares = random.sample(_WARES, 5)
    orders: Rows = [["Customer", "Ware"], *([random.choice(_NAMES), random.choice(wares)] for _ in range(ROWS))]
    prices: Rows = [["Ware", "Price"], *([ware, random.randint(2, 90)] for ware in wares)]
    return {"Orders": orders, "Prices": prices}


def _visits(random: Random) -> Sheets:
    names = random.sample(_NAMES, 5)
    return {"Visits": [["Visitor"], *([random.choice(names)] for _ in range(ROWS))]}


def _days(random: Random) -> Sheets:
    first = datetime(2023, 1, 1)
    return {"Bills": [["Billed"], *([first + timedelta(days=random.randint(0, 700))] for _ in range(ROWS))]}


def _loans(random: Random) -> Sheets:
    rows: Rows = [["Due", "Returned"]]
    for _ in range(ROWS):
        due = datetime(2024, 3, 1) + timedelta(days=random.randint(0, 90))
        rows.append([due, due + timedelta(days=random.randint(-9, 9))])
    return {"Loans": rows}


_OPEN = "from openpyxl import load_workbook\n\nbook = load_workbook(INPUT_PATH)\n"
_SAVE = "book.save(OUTPUT_PATH)\n"
_COLUMN = f"2:{ROWS + 1}"

FAMILIES: Mapping[str, Family] = {
    "total": Family(
        CELLS,
        "Write the value of all goods together, quantity times price summed over all rows, into cell F2.",
        "F2",
        _sales,
        _OPEN
        + 'sheet = book["Sales"]\n'
        + "rows = sheet.iter_rows(min_row=2, max_col=3, values_only=True)\n"
        + 'sheet["F2"] = sum(quantity * price for _, quantity, price in rows)\n'
        + _SAVE,
    ),
    "amounts": Family(
        CELLS,
        "Give each row its amount, quantity times price, in column D under the heading Amount.",
        f"'Sales'!D1:D{ROWS + 1}",
        _sales,
        _OPEN
        + 'sheet = book["Sales"]\nsheet["D1"] = "Amount"\n'
        + "for row in range(2, sheet.max_row + 1):\n"
        + "    sheet.cell(row, 4).value = round(sheet.cell(row, 2).value * sheet.cell(row, 3).value, 2)\n"
        + _SAVE,
    ),
    "lookup": Family(
        CELLS,
        "Look up the price of each ordered ware on the sheet Prices and write it into column C of the sheet Orders.",
        f"Orders!C{_COLUMN}",
        _orders,
        _OPEN
        + 'orders = book["Orders"]\n'
        + 'prices = dict(book["Prices"].iter_rows(min_row=2, max_col=2, values_only=True))\n'
        + "for row in range(2, orders.max_row + 1):\n"
        + "    orders.cell(row, 3).value = prices[orders.cell(row, 2).value]\n"
        + _SAVE,
    ),
    "distinct": Family(
        CELLS,
        "List every visitor once in column C from C2 on, in the order in which they first came.",
        "C:C",
        _visits,
        _OPEN
        + 'sheet = book["Visits"]\n'
        + "names = dict.fromkeys(cell.value for cell in sheet['A'][1:])\n"
        + "for row, name in enumerate(names, start=2):\n"
        + "    sheet.cell(row, 3).value = name\n"
        + _SAVE,
    ),
    "month_end": Family(
        CELLS,
        "Write the last day of the month of each bill into column B, as a date.",
        f"B{_COLUMN}",
        _days,
        "from calendar import monthrange\n"
        + _OPEN
        + 'sheet = book["Bills"]\n'
        + "for row in range(2, sheet.max_row + 1):\n"
        + "    day = sheet.cell(row, 1).value\n"
        + "    sheet.cell(row, 2).value = day.replace(day=monthrange(day.year, day.month)[1])\n"
        + _SAVE,
    ),
    "late": Family(
        CELLS,
        "Write late into column C where a loan was returned after it was due; leave the other cells empty.",
        f"C2:C{ROWS + 1}",
        _loans,
        _OPEN
        + 'sheet = book["Loans"]\n'
        + "for row in range(2, sheet.max_row + 1):\n"
        + "    if sheet.cell(row, 2).value > sheet.cell(row, 1).value:\n"
        + '        sheet.cell(row, 3).value = "late"\n'
        + _SAVE,
    ),
    "sorted": Family(
        SHEETS,
        "Make a sheet Sorted with the same heading and the rows ordered by quantity, the largest first.",
        f"'Sorted'!A1:C{ROWS + 1}",
        _sales,
        _OPEN
        + 'heading, *rows = book["Sales"].iter_rows(max_col=3, values_only=True)\n'
        + 'target = book.create_sheet("Sorted")\n'
        + "for row in [heading, *sorted(rows, key=lambda row: -row[1])]:\n"
        + "    target.append(row)\n"
        + _SAVE,
    ),
}
