import os

from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="vendor/model-1",
    base_url=os.environ["PARLEY_URL"],
    api_key=os.environ["PARLEY_KEY"],
    use_responses_api=False,
)
print(model.invoke("What is a reentrancy attack?").content)
