import asyncio
import os

from openai import AsyncOpenAI
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.contents import ChatHistory


async def main() -> None:
    client = AsyncOpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])
    service = OpenAIChatCompletion(ai_model_id="vendor/model-1", async_client=client)
    history = ChatHistory()
    history.add_user_message("What is a reentrancy attack?")
    print(await service.get_chat_message_content(history, OpenAIChatPromptExecutionSettings()))


asyncio.run(main())
