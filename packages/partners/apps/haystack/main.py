import os

from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

generator = OpenAIChatGenerator(
    model="vendor/model-1",
    api_base_url=os.environ["PARLEY_URL"],
    api_key=Secret.from_env_var("PARLEY_KEY"),
)
print(generator.run([ChatMessage.from_user("What is a reentrancy attack?")])["replies"][0].text)
