"""LiteLLM as a proxy with one deployment per URL; what a plain HTTP client reads of it."""

import os
import socket
import subprocess
import sys
import tempfile
import time

import httpx
import yaml
from shared import MESSAGES, MODEL, each, say_events

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
names = {url: f"model-{index}" for index, url in enumerate(sys.argv[1:])}
deployments = [
    {"model_name": name, "litellm_params": {"model": f"openai/{MODEL}", "api_base": url, "api_key": "sk-measured"}}
    for url, name in names.items()
]
with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False) as config:
    yaml.safe_dump({"model_list": deployments}, config)
command = [os.path.join(sys.prefix, "bin", "litellm"), "--config", config.name, "--host", "127.0.0.1"]
# It listens on loopback for a minute: without this it demands a key.
env = {**os.environ, "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
with open(os.devnull, "w") as nothing:
    proxy = subprocess.Popen([*command, "--port", str(port)], stdout=nothing, stderr=nothing, env=env)


def read(url, say):
    body = {"model": names[url], "messages": MESSAGES, "stream": True}
    with httpx.stream("POST", f"http://127.0.0.1:{port}/chat/completions", json=body, timeout=60) as response:
        for data in response.iter_bytes():
            say_events(data, say)


try:
    for _ in range(240):
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health/liveliness").status_code == 200:
                break
        except httpx.HTTPError:
            time.sleep(0.5)
    each(read)
finally:
    proxy.terminate()
    proxy.wait(20)
