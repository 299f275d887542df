import json
import os

import httpx

client = httpx.Client(
    base_url=os.environ["PARLEY_URL"],
    headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"},
    timeout=610,
)

schema = {
    "type": "object",
    "properties": {
        "risk": {"enum": ["low", "high"]},
        "reasons": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["risk", "reasons"],
    "additionalProperties": False,
}
body = {
    "model": "vendor/model-1",
    "messages": [
        {
            "role": "user",
            "content": "The bridge is not audited, and one key can drain it.",
        }
    ],
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "assessment", "schema": schema},
    },
}
response = client.post("/chat/completions", json=body)
response.raise_for_status()
choice = response.json()["choices"][0]
if choice["finish_reason"] != "stop":
    raise RuntimeError("The JSON is not complete.")
assessment = json.loads(choice["message"]["content"])
print(f"The risk is {assessment['risk']}.", *assessment["reasons"])
