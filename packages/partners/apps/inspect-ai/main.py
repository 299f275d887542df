import asyncio
import os

from inspect_ai.model import get_model


async def main() -> None:
    model = get_model(
        "openai/vendor/model-1",
        base_url=os.environ["PARLEY_URL"],
        api_key=os.environ["PARLEY_KEY"],
        responses_api=False,  # otherwise it asks for /v1/responses
    )
    print((await model.generate("What is a reentrancy attack?")).completion)


asyncio.run(main())
