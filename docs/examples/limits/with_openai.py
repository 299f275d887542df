import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])

response = client.chat.completions.with_raw_response.create(
    model="vendor/model-1",
    messages=[{"role": "user", "content": "What is a reentrancy attack?"}],
)
print(response.parse().choices[0].message.content)
for unit in ("requests", "tokens"):
    limit, remaining, reset = (
        response.headers[f"x-ratelimit-{word}-{unit}"] for word in ("limit", "remaining", "reset")
    )
    print(f"{remaining} of {limit} {unit} left, all of them again in {reset}")
