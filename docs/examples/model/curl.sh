curl -s "$PARLEY_URL/models/vendor/model-1" -H "Authorization: Bearer $PARLEY_KEY"
