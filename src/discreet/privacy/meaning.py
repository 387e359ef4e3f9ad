"""What a loss means to a person who wonders what an attacker could conclude.

Every name is a theorem of the course texts made callable: how far a probability can move (`odds`), how well any test
can do (`error_region`), and how far any belief can shift (`beliefs`).
"""

from discreet.privacy.beliefs import Beliefs, posterior_odds, posterior_range, with_or_without_me
from discreet.privacy.error_region import ErrorRegion, pinsker_bound
from discreet.privacy.odds import OddsRatio, Range, possible_probabilities

__all__ = [
    "Beliefs",
    "ErrorRegion",
    "OddsRatio",
    "Range",
    "pinsker_bound",
    "possible_probabilities",
    "posterior_odds",
    "posterior_range",
    "with_or_without_me",
]
