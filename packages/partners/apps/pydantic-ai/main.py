import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])
agent = Agent(OpenAIChatModel("vendor/model-1", provider=provider))
print(agent.run_sync("What is a reentrancy attack?").output)
