"""Makes calls with one SDK: a job per line on stdin, its outcome per line on stdout. `python driver.py MODULE`."""

import importlib
import json
import logging
import sys
import warnings
from typing import Any

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")


def thrown(error: BaseException) -> dict[str, Any]:
    """Returns an error as an outcome."""
    status = getattr(error, "status_code", None)
    name = type(error).__name__
    return {"throws": name if status is None else f"{name} ({status})", "says": str(error)}


def main() -> None:
    make = importlib.import_module(sys.argv[1]).make
    # SDKs may print. Their words must not reach the runner as outcomes.
    answers, sys.stdout = sys.stdout, sys.stderr
    answers.write('"ready"\n')
    answers.flush()
    for line in sys.stdin:
        job = json.loads(line)
        try:
            outcome = make(job["baseUrl"], job["key"], job["call"])
        except Exception as error:
            outcome = thrown(error)
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
