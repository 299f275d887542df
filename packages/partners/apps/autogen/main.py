import asyncio
import os

from autogen_core.models import UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient


async def main() -> None:
    client = OpenAIChatCompletionClient(
        model="vendor/model-1",
        base_url=os.environ["PARLEY_URL"],
        api_key=os.environ["PARLEY_KEY"],
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": True,
            "structured_output": True,
            "family": "unknown",
        },
    )
    answer = await client.create([UserMessage(content="What is a reentrancy attack?", source="user")])
    print(answer.content)
    await client.close()


asyncio.run(main())
