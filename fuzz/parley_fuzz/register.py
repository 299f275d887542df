"""Makes checks of Schemathesis from our own."""

from collections.abc import Callable

import schemathesis
from schemathesis import Case, CheckContext, Response
from schemathesis.core.failures import Failure

from parley_fuzz.exchange import Exchange, exchange_of


def register(check: Callable[[Exchange], str | None]) -> None:
    """Registers a check that returns the fault of an answer, if there is one."""

    def run(_ctx: CheckContext, response: Response, case: Case) -> None:
        try:
            fault = check(exchange_of(case, response))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            fault = f"the answer cannot be read: {error!r}"
        if fault is not None:
            raise Failure(operation=case.operation.label, title=check.__name__, message=fault)

    run.__name__ = check.__name__
    run.__doc__ = check.__doc__
    schemathesis.check(run)
