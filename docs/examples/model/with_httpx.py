import os

import httpx

client = httpx.Client(
    base_url=os.environ["PARLEY_URL"],
    headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"},
)

response = client.get("/models/vendor/model-1")
response.raise_for_status()
model = response.json()
print(f"{model['id']} of {model['owned_by']}")
