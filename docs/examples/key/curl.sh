curl -s "$PARLEY_URL/key" -H "Authorization: Bearer $PARLEY_KEY" \
  | grep -oE '"(limits|budgets)":.*'
