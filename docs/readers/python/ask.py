import json
import os
import urllib.request

from read_stream import read_stream

url = os.environ.get("PARLEY_URL", "http://127.0.0.1:8080/v1")
question = {"role": "user", "content": "What is a reentrancy attack?"}
request = urllib.request.Request(
    f"{url}/chat/completions",
    data=json.dumps({"model": "vendor/model-1", "messages": [question], "stream": True}).encode(),
    headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}", "Content-Type": "application/json"},
)
# An error status raises HTTPError. The loop reads line by line, so no buffer delays the answer.
with urllib.request.urlopen(request) as body:
    for chunk in read_stream(body):
        for choice in chunk["choices"]:
            print(choice["delta"].get("content", ""), end="", flush=True)
print()
