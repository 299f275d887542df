import os

from openai import APIConnectionError, APIStatusError, OpenAI, RateLimitError

# The SDK retries 408, 409, 429 and 5xx by itself.
# It waits as long as the service says.
client = OpenAI(
    base_url=os.environ["PARLEY_URL"],
    api_key=os.environ["PARLEY_KEY"],
    max_retries=4,
)


def ask(model: str) -> None:
    """Asks a question. If that fails, it prints what to do."""
    try:
        answer = client.chat.completions.create(
            model=model,
            messages=[{"role": "user", "content": "What is a reentrancy attack?"}],
        )
        print(answer.choices[0].message.content)
    except RateLimitError as error:
        print(f"Come back in {error.response.headers['retry-after']} seconds.")
    except APIStatusError as error:
        print(f"{error.code}: {error.message} (request {error.request_id})")
    except APIConnectionError as error:
        print(f"The service cannot be reached: {error.__cause__}")


ask("vendor/model-1")
ask("vendor/no-such-model")
