import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])

model = client.models.retrieve("vendor/model-1")
print(f"{model.id} of {model.owned_by}")
