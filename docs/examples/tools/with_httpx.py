import json
import os
from typing import Any

import httpx

client = httpx.Client(
    base_url=os.environ["PARLEY_URL"],
    headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"},
    timeout=610,
)


def get_gas_price(chain: str) -> dict[str, object]:
    return {"chain": chain, "gwei": 12}


tool = {
    "type": "function",
    "function": {
        "name": "get_gas_price",
        "description": "The price of gas on a chain, in gwei.",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"chain": {"enum": ["ethereum", "polygon"]}},
            "required": ["chain"],
            "additionalProperties": False,
        },
    },
}
messages: list[dict[str, Any]] = [
    {"role": "user", "content": "What does gas cost on Ethereum?"}
]


def ask(tool_choice: str) -> dict[str, Any]:
    body = {
        "model": "vendor/model-1",
        "messages": messages,
        "tools": [tool],
        "tool_choice": tool_choice,
    }
    response = client.post("/chat/completions", json=body)
    response.raise_for_status()
    return response.json()["choices"][0]


# The first answer has to call a function. Later ones may.
choice = ask("required")
while choice["finish_reason"] == "tool_calls":
    messages.append(choice["message"])
    for call in choice["message"]["tool_calls"]:
        result = get_gas_price(**json.loads(call["function"]["arguments"]))
        content = json.dumps(result)
        messages.append(
            {"role": "tool", "tool_call_id": call["id"], "content": content}
        )
    choice = ask("auto")
print(choice["message"]["content"])
