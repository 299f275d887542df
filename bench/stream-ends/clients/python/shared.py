"""A client is called with URLs, and prints one JSON line for each: the text that it gave, and how it says it ended."""

import json
import os
import re
import sys
import time

MODEL = "vendor/model-1"
MESSAGES = [{"role": "user", "content": "x"}]
BODY = {"model": MODEL, "messages": MESSAGES, "stream": True}
CA = os.environ["SSL_CERT_FILE"]


def each(read):
    for url in sys.argv[1:]:
        text, ended = [], "whole"

        def say(piece, text=text, pause=0.01 if "/slow/" in url else 0):
            text.append(piece)
            time.sleep(pause)

        try:
            read(url, say)
        except Exception as error:
            ended = f"{type(error).__name__}: {error}"
        print(json.dumps({"url": url, "text": "".join(text), "ended": ended}), flush=True)


def say_events(data, say):
    """For HTTP libraries: the text of the chunks, and the word ERROR where the error event came."""
    written = data.decode()
    for content in re.findall(r'"content":"([^"]*)"', written):
        say(content)
    if '"error":' in written:
        say(" ERROR")
