id=$(curl -s -D - -o answer.json "$PARLEY_URL/chat/completions" \
  -H "Authorization: Bearer $PARLEY_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "model": "vendor/model-1",
    "messages": [{"role": "user", "content": "What is a reentrancy attack?"}]
  }' | tr -d '\r' | grep -i '^x-request-id:' | cut -d ' ' -f 2)
curl -s "$PARLEY_URL/usage/$id" -H "Authorization: Bearer $PARLEY_KEY"
