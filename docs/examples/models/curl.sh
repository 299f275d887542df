curl -s "$PARLEY_URL/models" -H "Authorization: Bearer $PARLEY_KEY" \
  | grep -oE '"(id|is_ready)":[^,}]+'
