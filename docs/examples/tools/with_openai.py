import json
import os

from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

client = OpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])


def get_gas_price(chain: str) -> dict[str, object]:
    return {"chain": chain, "gwei": 12}


tools: list[ChatCompletionToolParam] = [
    {
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
]
messages: list[ChatCompletionMessageParam] = [
    {"role": "user", "content": "What does gas cost on Ethereum?"}
]

# The first answer has to call a function. Later ones may.
answer = client.chat.completions.create(
    model="vendor/model-1", messages=messages, tools=tools, tool_choice="required"
)
while answer.choices[0].finish_reason == "tool_calls":
    message = answer.choices[0].message
    # An answer can be sent back as it is.
    messages.append(message.to_dict())  # type: ignore[arg-type]
    for call in message.tool_calls or []:
        if call.type == "function":
            result = get_gas_price(**json.loads(call.function.arguments))
            content = json.dumps(result)
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": content}
            )
    answer = client.chat.completions.create(
        model="vendor/model-1", messages=messages, tools=tools
    )
print(answer.choices[0].message.content)
