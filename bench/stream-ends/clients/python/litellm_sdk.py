import litellm
from shared import MESSAGES, MODEL, each

litellm.suppress_debug_info = True


def read(url, say):
    for chunk in litellm.completion(
        model=f"openai/{MODEL}", api_base=url, api_key="sk-measured", messages=MESSAGES, stream=True
    ):
        say((chunk.choices[0].delta.content or "") if chunk.choices else "")


each(read)
