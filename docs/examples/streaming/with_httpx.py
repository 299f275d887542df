import json
import os

import httpx

client = httpx.Client(
    base_url=os.environ["PARLEY_URL"],
    headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"},
    timeout=60,  # the longest silence; a comment comes at least every 15 seconds
)

body = {
    "model": "vendor/model-1",
    "messages": [{"role": "user", "content": "What is a reentrancy attack?"}],
    "stream": True,
}
is_complete = False
with client.stream("POST", "/chat/completions", json=body) as response:
    response.raise_for_status()
    for line in response.iter_lines():
        if not line.startswith("data: "):
            continue  # an empty line, or a comment that keeps the connection open
        data = line.removeprefix("data: ")
        if data == "[DONE]":
            is_complete = True
            break
        event = json.loads(data)
        if "error" in event:
            raise RuntimeError(event["error"]["message"])
        for choice in event["choices"]:
            print(choice["delta"].get("content") or "", end="", flush=True)
print()
if not is_complete:
    raise RuntimeError("There was no [DONE]: the answer is not complete.")
