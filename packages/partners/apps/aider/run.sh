export OPENAI_API_BASE="$PARLEY_URL" OPENAI_API_KEY="$PARLEY_KEY"
aider --model openai/vendor/model-1 --no-git --yes-always --no-show-model-warnings --message "/ask What is a reentrancy attack?"
