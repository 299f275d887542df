import os

from smolagents import ChatMessage, OpenAIModel

model = OpenAIModel("vendor/model-1", api_base=os.environ["PARLEY_URL"], api_key=os.environ["PARLEY_KEY"])
answer = model([ChatMessage(role="user", content="What is a reentrancy attack?")])
print(answer.content)
