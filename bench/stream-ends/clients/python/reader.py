import ssl
import urllib.request

import json
from read_stream import read_stream
from shared import BODY, CA, each

context = ssl.create_default_context(cafile=CA)


def read(url, say):
    request = urllib.request.Request(
        f"{url}/chat/completions", data=json.dumps(BODY).encode(), headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, context=context if url.startswith("https") else None) as body:
        for chunk in read_stream(body):
            for choice in chunk["choices"]:
                say(choice["delta"].get("content", ""))


each(read)
