curl --retry 4 --retry-connrefused "$PARLEY_URL/chat/completions" \
  -H "Authorization: Bearer $PARLEY_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "model": "vendor/no-such-model",
    "messages": [{"role": "user", "content": "What is a reentrancy attack?"}]
  }'
