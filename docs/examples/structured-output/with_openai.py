import os
from typing import Literal

from openai import OpenAI
from pydantic import BaseModel

client = OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])


class Assessment(BaseModel):
    risk: Literal["low", "high"]
    reasons: list[str]


# parse() raises LengthFinishReasonError if the token limit cut the answer.
answer = client.chat.completions.parse(
    model="vendor/model-1",
    messages=[
        {
            "role": "user",
            "content": "The bridge is not audited, and one key can drain it.",
        }
    ],
    response_format=Assessment,
)
assessment = answer.choices[0].message.parsed
assert assessment is not None
print(f"The risk is {assessment.risk}.", *assessment.reasons)
