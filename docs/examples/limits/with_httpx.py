import os

import httpx

client = httpx.Client(
    base_url=os.environ["PARLEY_URL"],
    headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"},
    timeout=610,
)

body = {
    "model": "vendor/model-1",
    "messages": [{"role": "user", "content": "What is a reentrancy attack?"}],
}
response = client.post("/chat/completions", json=body)
response.raise_for_status()
print(response.json()["choices"][0]["message"]["content"])
for unit in ("requests", "tokens"):
    limit = response.headers[f"x-ratelimit-limit-{unit}"]
    remaining = response.headers[f"x-ratelimit-remaining-{unit}"]
    reset = response.headers[f"x-ratelimit-reset-{unit}"]
    print(f"{remaining} of {limit} {unit} left, all again in {reset}")
