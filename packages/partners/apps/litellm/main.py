import os

import litellm

answer = litellm.completion(
    model="openai/vendor/model-1",  # openai/ is the provider; the rest is the model's id
    api_base=os.environ["PARLEY_URL"],
    api_key=os.environ["PARLEY_KEY"],
    messages=[{"role": "user", "content": "What is a reentrancy attack?"}],
)
print(answer.choices[0].message.content)
