import sys

import httpx
from shared import BODY, CA, each, say_events

client = httpx.Client(http2="--http2" in sys.argv, verify=CA)
sys.argv = [one for one in sys.argv if one != "--http2"]


def read(url, say):
    with client.stream("POST", f"{url}/chat/completions", json=BODY) as response:
        for data in response.iter_bytes():
            say_events(data, say)


each(read)
