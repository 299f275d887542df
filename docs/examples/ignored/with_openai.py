import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])

response = client.chat.completions.with_raw_response.create(
    model="vendor/model-1",
    messages=[{"role": "user", "content": "What is a reentrancy attack?"}],
    store=True,
)
print(response.parse().choices[0].message.content)
print(f"Without effect: {response.headers.get('x-ignored-params')}")
