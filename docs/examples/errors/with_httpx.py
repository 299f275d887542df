import os
import random
import time

import httpx

client = httpx.Client(
    base_url=os.environ["PARLEY_URL"],
    headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"},
    timeout=610,
)
RETRIED = {408, 429, 500, 502, 503, 504}


def post(body: dict[str, object], attempts: int = 5) -> httpx.Response:
    """Sends a request, and sends it again where that may help."""
    for attempt in range(1, attempts + 1):
        response = client.post("/chat/completions", json=body)
        headers = response.headers
        may_help = headers.get("x-should-retry") != "false"
        if (
            response.status_code not in RETRIED
            or not may_help
            or attempt == attempts
        ):
            return response
        pause_ms = random.uniform(500, 1000) * 2 ** (attempt - 1)
        time.sleep(float(headers.get("retry-after-ms", pause_ms)) / 1000)
    raise AssertionError("unreachable")


def ask(model: str) -> None:
    """Asks a question. If that fails, it prints what to do."""
    question = {"role": "user", "content": "What is a reentrancy attack?"}
    response = post({"model": model, "messages": [question]})
    answer = response.json()
    if response.is_success:
        print(answer["choices"][0]["message"]["content"])
    elif response.status_code == 429:
        print(f"Come back in {response.headers['retry-after']} seconds.")
    else:
        error = answer["error"]
        print(
            f"{error['code']}: {error['message']} (request {answer['request_id']})"
        )


ask("vendor/model-1")
ask("vendor/no-such-model")
