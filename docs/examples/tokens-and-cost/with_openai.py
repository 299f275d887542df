import os
from decimal import Decimal

from openai import OpenAI

client = OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])

stream = client.chat.completions.create(
    model="vendor/model-1",
    messages=[{"role": "user", "content": "What is a reentrancy attack?"}],
    stream=True,
    stream_options={"include_usage": True},
)
for chunk in stream:
    for choice in chunk.choices:
        print(choice.delta.content or "", end="", flush=True)
    if usage := chunk.usage:
        # The SDK's types do not have the price.
        cost = Decimal(getattr(usage, "cost_usd", "0"))
        print(
            f"\n{usage.prompt_tokens} + {usage.completion_tokens} tokens, ", end=""
        )
        print(f"{cost:f} US dollars")
