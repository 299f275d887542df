import type { Product } from "./product.ts";
import { venv } from "./product.ts";

const levels = ["core", "stream", "sampling", "tools", "structured", "logprobs"] as const;
const demonstration = "the demonstration weights of model-1";

/** Services that run a model. */
export const engines: readonly Product[] = [
  {
    name: "parley",
    title: "Parley",
    kind: "engine",
    version: "0.1.0",
    from: "this repository",
    behind: "its scripted engine",
    install: [],
    start:
      'cd "$ROOT" && PARLEY_ENGINE=scripted PARLEY_DATA_DIR="$FOLDER/data" PARLEY_API_KEY="$KEY" PARLEY_METRICS_PORT=off PORT="$PORT" exec node packages/server/src/cli/main.mjs start',
    model: "vendor/model-1",
    levels,
    modelIs: ["guided"],
  },
  {
    name: "vllm",
    title: "vLLM",
    kind: "engine",
    version: "0.32.0",
    from: "PyPI, on a CPU",
    behind: demonstration,
    install: ['cd "$ROOT" && node packages/server/src/cli/main.mjs vllm install --into "$FOLDER/venv"'],
    start: `TORCHDYNAMO_DISABLE=1 VLLM_NO_USAGE_STATS=1 HF_HUB_OFFLINE=1 exec "$FOLDER/venv/bin/vllm" serve "$MODEL_FOLDER" --host 127.0.0.1 --port "$PORT" --served-model-name "$MODEL" --api-key "$KEY" --enforce-eager --kv-cache-memory-bytes 256M --no-enable-chunked-prefill --max-num-batched-tokens 32768 --generation-config vllm --enable-auto-tool-choice --tool-call-parser hermes --structured-outputs-config '{"backend":"xgrammar","disable_any_whitespace":true}'`,
    model: "vendor/model-1",
    levels,
    modelIs: ["greedy", "guided"],
  },
  {
    name: "llama-cpp-python",
    title: "llama-cpp-python",
    kind: "engine",
    version: "0.3.36",
    from: "PyPI, compiled on the machine",
    behind: demonstration,
    install: venv("llama-cpp-python[server]==0.3.36", "fastapi==0.165.0"),
    start:
      'exec "$FOLDER/venv/bin/python" -m llama_cpp.server --host 127.0.0.1 --port "$PORT" --model "$ROOT/demo-models/model-1/model-1.bf16.gguf" --model_alias "$MODEL" --api_key "$KEY" --n_ctx 2048 --n_threads 1 --n_threads_batch 1',
    model: "vendor/model-1",
    levels,
    modelIs: ["greedy", "guided"],
    note: "It does not know `max_completion_tokens`, so answers end with the model or the context.",
  },
  {
    name: "transformers",
    title: "transformers serve",
    kind: "engine",
    version: "5.19.0",
    from: "PyPI, on a CPU, in the environment of vLLM",
    behind: demonstration,
    install: [
      'cd "$ROOT" && node packages/server/src/cli/main.mjs vllm install --into "$FOLDER/venv"',
      '"$UV" pip install --quiet --no-deps --python "$FOLDER/venv/bin/python" --target "$FOLDER/extra" accelerate==1.15.0',
    ],
    start:
      'PYTHONPATH="$FOLDER/extra" HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 exec "$FOLDER/venv/bin/transformers" serve "$MODEL_FOLDER" --host 127.0.0.1 --port "$PORT" --device cpu',
    model: "$MODEL_FOLDER",
    levels,
    modelIs: ["any"],
    note: "It checks no key, and its model is named by its path.",
  },
  {
    name: "mlx-lm",
    title: "mlx_lm.server",
    kind: "engine",
    version: "0.32.2",
    from: "PyPI, on a CPU",
    behind: demonstration,
    install: venv("mlx-lm==0.32.2", "mlx[cpu]"),
    start:
      'cd "$FOLDER" && HF_HUB_OFFLINE=1 HF_HOME="$FOLDER/hub" exec venv/bin/mlx_lm.server --model "$MODEL_FOLDER" --host 127.0.0.1 --port "$PORT"',
    model: "$MODEL_FOLDER",
    levels,
    modelIs: ["any"],
    note: "It checks no key, and its model is named by its path.",
  },
  {
    name: "dynamo",
    title: "Dynamo frontend",
    kind: "engine",
    version: "1.6.1",
    from: "PyPI, without its planner (`aisimulate` is not on PyPI)",
    behind: "its mocker, with the tokenizer of model-1: random tokens",
    install: [
      '"$UV" venv --quiet --allow-existing --python 3.11 "$FOLDER/venv"',
      '"$UV" pip install --quiet --no-deps --python "$FOLDER/venv/bin/python" ai-dynamo==1.6.1 ai-dynamo-runtime==1.6.1',
      ...venv(
        "aiohttp>=3.14.3",
        "msgspec",
        "prometheus-client<1",
        "pyzmq",
        "tqdm",
        "transformers>=4.56",
        "zstandard<1",
        "pydantic<=2.13.5",
        "uvloop",
        "kubernetes>=32.0.1,<33",
        "redis>=6.2,<9",
      ).slice(1),
    ],
    start: `export DYN_FILE_KV="$FOLDER/store" HF_HUB_OFFLINE=1; rm -rf "$DYN_FILE_KV"
"$FOLDER/venv/bin/python" -m dynamo.mocker --model-path "$MODEL_FOLDER" --model-name "$MODEL" --discovery-backend file --request-plane tcp --event-plane zmq --speedup-ratio 100 &
exec "$FOLDER/venv/bin/python" -m dynamo.frontend --http-host 127.0.0.1 --http-port "$PORT" --discovery-backend file --request-plane tcp --event-plane zmq`,
    model: "vendor/model-1",
    levels: ["core", "stream"],
    modelIs: ["any"],
    note: "It checks no key. The mocker writes random tokens, so calls and formats cannot be judged.",
  },
];
