import os

import httpx

client = httpx.Client(
    base_url=os.environ["PARLEY_URL"],
    headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"},
)

response = client.get("/key")
response.raise_for_status()
key = response.json()
requests = key["limits"]["requests"]
print(f"{requests['remaining']} of {requests['limit']} requests left")
for budget in key["budgets"]:
    print(f"{budget['remaining_usd']} of {budget['limit_usd']} US dollars left")
