from openai import OpenAI
from shared import MESSAGES, MODEL, each


def read(url, say):
    client = OpenAI(base_url=url, api_key="sk-measured")
    for chunk in client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True):
        say((chunk.choices[0].delta.content or "") if chunk.choices else "")


each(read)
