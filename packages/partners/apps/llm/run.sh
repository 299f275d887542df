mkdir -p "$LLM_USER_PATH"
cat > "$LLM_USER_PATH/extra-openai-models.yaml" <<END
- model_id: parley
  model_name: vendor/model-1
  api_base: "$PARLEY_URL"
  api_key_name: parley
END
llm keys set parley --value "$PARLEY_KEY"
llm -m parley "What is a reentrancy attack?"
