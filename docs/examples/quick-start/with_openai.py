import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])

answer = client.chat.completions.create(
    model="vendor/model-1",
    messages=[{"role": "user", "content": "What is a reentrancy attack?"}],
)
print(answer.choices[0].message.content)
