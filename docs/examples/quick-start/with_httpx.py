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
