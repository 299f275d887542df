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
answer = client.post("/chat/completions", json=body)
answer.raise_for_status()

response = client.get(f"/usage/{answer.headers['x-request-id']}")
response.raise_for_status()
receipt = response.json()
print(f"{receipt['outcome']}: {receipt['cost_usd']} US dollars")
