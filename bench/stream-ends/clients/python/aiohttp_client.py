import asyncio

import aiohttp
from shared import BODY, each, say_events


async def ask(url, say):
    async with aiohttp.ClientSession() as session, session.post(f"{url}/chat/completions", json=BODY) as response:
        async for data in response.content.iter_any():
            say_events(data, say)


each(lambda url, say: asyncio.run(ask(url, say)))
