import os

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

model = OpenAILike(
    model="vendor/model-1",
    api_base=os.environ["PARLEY_URL"],
    api_key=os.environ["PARLEY_KEY"],
    is_chat_model=True,  # otherwise it asks for /v1/completions
    context_window=32768,
)
print(model.chat([ChatMessage(role="user", content="What is a reentrancy attack?")]).message.content)
