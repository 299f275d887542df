curl "$PARLEY_URL/chat/completions" \
  -H "Authorization: Bearer $PARLEY_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "model": "vendor/model-1",
    "messages": [{"role": "user", "content": "What is a reentrancy attack?"}]
  }'
