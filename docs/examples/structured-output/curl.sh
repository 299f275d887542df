curl -s "$PARLEY_URL/chat/completions" \
  -H "Authorization: Bearer $PARLEY_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "model": "vendor/model-1",
    "messages": [
      {
        "role": "user",
        "content": "The bridge is not audited, and one key can drain it."
      }
    ],
    "response_format": {
      "type": "json_schema",
      "json_schema": {
        "name": "assessment",
        "schema": {
          "type": "object",
          "properties": {
            "risk": {"enum": ["low", "high"]},
            "reasons": {"type": "array", "items": {"type": "string"}}
          },
          "required": ["risk", "reasons"],
          "additionalProperties": false
        }
      }
    }
  }'
