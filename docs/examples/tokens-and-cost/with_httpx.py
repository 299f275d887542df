import os
from decimal import Decimal

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
answer = response.json()
usage = answer["usage"]
print(answer["choices"][0]["message"]["content"])
prompt, completion = usage["prompt_tokens"], usage["completion_tokens"]
print(f"{prompt} + {completion} tokens, {usage['cost_usd']} US dollars")

# The same price, computed from the prices of the model.
pricing = client.get("/models/vendor/model-1").json()["pricing"]
price = {name: Decimal(text) for name, text in pricing.items()}
cached = usage["prompt_tokens_details"]["cached_tokens"]
cost = (
    (prompt - cached) * price["prompt"]
    + cached * price.get("input_cache_read", price["prompt"])
    + completion * price["completion"]
    + price["request"]
)
assert cost == Decimal(usage["cost_usd"])
