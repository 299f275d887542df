curl -s "$PARLEY_URL/chat/completions" \
  -H "Authorization: Bearer $PARLEY_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "model": "vendor/model-1",
    "messages": [{"role": "user", "content": "What does gas cost on Ethereum?"}],
    "tools": [{
      "type": "function",
      "function": {
        "name": "get_gas_price",
        "description": "The price of gas on a chain, in gwei.",
        "parameters": {
          "type": "object",
          "properties": {"chain": {"enum": ["ethereum", "polygon"]}},
          "required": ["chain"],
          "additionalProperties": false
        }
      }
    }],
    "tool_choice": "required"
  }'
