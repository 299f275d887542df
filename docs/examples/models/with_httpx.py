import os

import httpx

client = httpx.Client(
    base_url=os.environ["PARLEY_URL"],
    headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"},
)

response = client.get("/models")
response.raise_for_status()
for model in response.json()["data"]:
    print(model["id"])
