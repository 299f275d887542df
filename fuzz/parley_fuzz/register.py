"""Makes checks of Schemathesis from our own, and records every answer and every failure."""

from collections.abc import Callable

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response
from schemathesis.core.failures import Failure

from parley_fuzz.exchange import Exchange, exchange_of
from parley_fuzz.recorder import record, record_failure


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


@schemathesis.hook
def after_call(context: HookContext, case: Case, response: Response) -> None:
    record(exchange_of(case, response))


@schemathesis.hook
def filter_failure(context: HookContext, failure: Failure, case: Case, response: Response) -> bool:
    """Records every failure, including those of Schemathesis's own checks, and keeps it."""
    record_failure(exchange_of(case, response), failure)
    return True
