import sys

import requests
from shared import BODY, CA, each, say_events

session = requests.Session()
is_whole = "--whole" in sys.argv
sys.argv = [one for one in sys.argv if one != "--whole"]


def read(url, say):
    with session.post(f"{url}/chat/completions", json=BODY, stream=not is_whole, verify=CA) as response:
        for data in [response.content] if is_whole else response.iter_content(chunk_size=None):
            say_events(data, say)


each(read)
