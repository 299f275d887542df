import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])

response = client.chat.completions.with_raw_response.create(
    model="vendor/model-1",
    messages=[{"role": "user", "content": "What is a reentrancy attack?"}],
)
print(response.parse().choices[0].message.content)
for unit in ("requests", "tokens"):
    limit = response.headers[f"x-ratelimit-limit-{unit}"]
    remaining = response.headers[f"x-ratelimit-remaining-{unit}"]
    reset = response.headers[f"x-ratelimit-reset-{unit}"]
    print(f"{remaining} of {limit} {unit} left, all again in {reset}")
