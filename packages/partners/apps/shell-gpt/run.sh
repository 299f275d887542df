export API_BASE_URL="$PARLEY_URL" OPENAI_API_KEY="$PARLEY_KEY" DEFAULT_MODEL=vendor/model-1
sgpt --no-cache --no-functions "What is a reentrancy attack?"
