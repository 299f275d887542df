import os

import instructor
from openai import OpenAI
from pydantic import BaseModel


class Answer(BaseModel):
    text: str


client = instructor.from_openai(
    OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"]), mode=instructor.Mode.JSON_SCHEMA
)
answer = client.create(
    model="vendor/model-1",
    response_model=Answer,
    messages=[{"role": "user", "content": "What is a reentrancy attack?"}],
)
print(answer.text)
