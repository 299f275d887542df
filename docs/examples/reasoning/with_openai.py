import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])

answer = client.chat.completions.create(
    model="vendor/model-1",
    messages=[{"role": "user", "content": "What is a reentrancy attack?"}],
    reasoning_effort="low",
)
message = answer.choices[0].message
# The SDK's types do not have the reasoning.
print(f"Reasoning: {getattr(message, 'reasoning', '')}")
print(message.content)
