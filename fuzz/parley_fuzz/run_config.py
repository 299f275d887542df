"""The configuration of this run, from the environment. If that names a URL, the server under test describes itself there."""

import json
import os
from typing import Any
from urllib.request import urlopen

_config = json.loads(os.environ["FUZZ_RUN_CONFIG"])
if _target := os.environ.get("FUZZ_TARGET"):
    with urlopen(_target) as _response:
        _config |= json.load(_response)

KEY: str = _config["key"]
"""A key without limits of its own."""
LIMITED_KEY: str | None = _config.get("limitedKey")
"""A key that allows one request per minute."""
SPENT_KEY: str | None = _config.get("spentKey")
"""A key whose budget is used up."""
IS_SCRIPTED: bool = _config["name"] == "scripted"
MODEL_IDS: list[str] = [model["id"] for model in _config["models"]]
PRICES: dict[str, dict[str, str]] = {model["id"]: model["pricing"] for model in _config["models"]}
ADMIN: dict[str, Any] = _config.get("admin", {})
"""Admin keys, if the admin API is under test."""
SOURCE: str = _config["source"]
"""The source of the bodies: the `grammar` of this folder, or Schemathesis from the `schema`; `auth` tests keys."""
IS_AUTH_RUN: bool = SOURCE == "auth"
IS_SHALLOW: bool = _config.get("isShallow", False)
RECORD: str = _config["record"]
"""The file that gets a line per answer."""

SCENARIOS: dict[str, int] = {"fails": 502, "breaks": 502, "stalls": 504}
"""Scenarios of the scripted engine that end in a failure, and its status before the first byte."""
SLOW_SCENARIO = "slow"
