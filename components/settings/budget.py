"""Settings `budget`: what a stack may cost at most."""

from typing import Annotated

from pydantic import Field

from .base import Section


class BudgetSettings(Section):
    """What a stack may cost at most; the rule `container/budget` refuses more."""

    monthly_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """US dollars a month for all instances at full load, by list prices with nothing taken off: what a loop or an
    attack could make you pay. `sandbox-stack cost` prints what the instances come to."""
