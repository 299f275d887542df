import os
import uuid

from openai import OpenAI

client = OpenAI(
    base_url=os.environ["PARLEY_URL"],
    api_key=os.environ["PARLEY_KEY"],
    max_retries=4,
)

# A name for this call. Each retry of the SDK sends it again.
response = client.chat.completions.with_raw_response.create(
    model="vendor/model-1",
    messages=[{"role": "user", "content": "What is a reentrancy attack?"}],
    extra_headers={"Idempotency-Key": str(uuid.uuid4())},
)
print(response.parse().choices[0].message.content)
if response.headers.get("idempotent-replayed") == "true":
    print("A first answer was lost, and was not charged twice.")
