import os

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)  # traces would go to OpenAI
client = AsyncOpenAI(base_url=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])
model = OpenAIChatCompletionsModel(model="vendor/model-1", openai_client=client)
agent = Agent(name="Auditor", model=model)
print(Runner.run_sync(agent, "What is a reentrancy attack?").final_output)
