"""The colours of the console, light and dark; every pair that carries words is far enough apart to be read."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["DARK", "LIGHT", "READ_ON", "Palette"]


@dataclass(frozen=True)
class Palette:
    """Colours by what they are for, as CSS writes them."""

    page: str
    """Behind everything."""
    surface: str
    """Behind a section."""
    raised: str
    """Behind what stands out of a section: chips, rows under the pointer."""
    text: str
    """Words."""
    muted: str
    """Words that can wait."""
    line: str
    """Edges and rules."""
    primary: str
    """What can be acted on."""
    on_primary: str
    """Words on it."""
    tint: str
    """Behind the chosen one of several."""
    good: str
    """What went well."""
    good_tint: str
    """Behind it."""
    warn: str
    """What deserves a look."""
    warn_tint: str
    """Behind it."""
    bad: str
    """What was refused."""
    bad_tint: str
    """Behind it."""
    series: tuple[str, ...]
    """Colours of charts, in their order."""

    def css(self) -> str:
        """The colours as CSS variables, ``--d-`` and their name; charts' are numbered from 1."""
        named = {one.name.replace("_", "-"): getattr(self, one.name) for one in fields(self) if one.name != "series"}
        named |= {f"series-{place}": colour for place, colour in enumerate(self.series, 1)}
        return "".join(f"--d-{name}:{colour};" for name, colour in named.items())


LIGHT = Palette(
    page="#f5f6f8",
    surface="#ffffff",
    raised="#eef1f4",
    text="#1a2530",
    muted="#566472",
    line="#dbe1e7",
    primary="#1d5b85",
    on_primary="#ffffff",
    tint="#e3eef6",
    good="#22683b",
    good_tint="#e5f3e9",
    warn="#7d4b00",
    warn_tint="#fdf1dc",
    bad="#a1271e",
    bad_tint="#fbe9e7",
    series=("#1d5b85", "#b35c00", "#22683b", "#7a3f8f", "#a1271e", "#4a6274"),
)
"""For a bright room."""

DARK = Palette(
    page="#10161c",
    surface="#182028",
    raised="#222c36",
    text="#e3e9ef",
    muted="#9eadba",
    line="#2d3945",
    primary="#82bce8",
    on_primary="#0a1722",
    tint="#1e3344",
    good="#86cf9b",
    good_tint="#173022",
    warn="#f0bd6d",
    warn_tint="#36290f",
    bad="#f2a097",
    bad_tint="#3d1f1c",
    series=("#82bce8", "#f0a860", "#86cf9b", "#c79ad6", "#f2a097", "#9eb4c5"),
)
"""For a dark one."""

READ_ON = (
    *((words, behind) for words in ("text", "muted", "primary") for behind in ("page", "surface", "raised", "tint")),
    *((words, "surface") for words in ("good", "warn", "bad")),
    *((words, f"{words}_tint") for words in ("good", "warn", "bad")),
    *(("text", f"{behind}_tint") for behind in ("good", "warn", "bad")),
    ("on_primary", "primary"),
)
"""Which words stand on what."""
