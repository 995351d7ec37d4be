"""What tasks cost, from options and a JSON file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mpmd.schedules import Costs

HELP = {  # field of Costs -> what it says
    "forward": "time of a forward",
    "input_gradient": "time of the input gradient of a backward",
    "weight_gradient": "time of the weight gradient of a backward",
    "backward": "time of a whole backward (default: that of both gradients)",
    "overlapped": "time of a forward and a backward that run together",
    "forward_transfer": "time from a stage to the next one",
    "backward_transfer": "time from a stage to the one before",
    "activations": "memory that a microbatch holds from its forward to its backward",
    "kept_for_weights": "the fraction of it that waits for the weight gradient",
    "weights": "memory of the weights of a stage",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds an option for every cost."""
    group = parser.add_argument_group(
        "costs", "A number, or one for each stage separated by commas; options overrule the file."
    )
    group.add_argument("--costs", metavar="FILE", help="a JSON object of costs by these names")
    for name, text in HELP.items():
        group.add_argument(
            f"--{name.replace('_', '-')}", dest=name, metavar="X", type=_numbers, help=text
        )


def read_costs(options: argparse.Namespace) -> Costs:
    """Returns the costs; raises ValueError or OSError."""
    values = {} if options.costs is None else _read_file(options.costs)
    values |= {name: getattr(options, name) for name in HELP if getattr(options, name) is not None}
    return Costs(**values)


def _numbers(text: str) -> float | list[float]:
    """Reads `1.5` or `1,2,3`."""
    values = [float(part) for part in text.split(",")]
    return values[0] if len(values) == 1 else values


_numbers.__name__ = "number"  # argparse says "invalid number value"


def _read_file(path: str) -> dict[str, Any]:
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON file: {error}") from None
    if not isinstance(values, Mapping):
        raise ValueError(f'{path} must hold an object of costs, such as {{"forward": 1.5}}')
    for name, value in values.items():
        if name not in HELP:
            raise ValueError(f"{path}: there is no cost {name!r}; there are {', '.join(HELP)}")
        numbers = value if isinstance(value, list) else [value]
        if not numbers or not all(type(number) in (int, float) for number in numbers):
            raise ValueError(f"{path}: {name!r} must be a number or a list of them, got {value!r}")
    return dict(values)
