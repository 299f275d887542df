import { expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { makeConfig } from "./read-config.ts";
import type { ConfigChanges } from "./read-config.ts";

type Models = NonNullable<ConfigChanges["models"]>;
type Remote = NonNullable<NonNullable<Models[string]>["remote"]>;

const pricing = { prompt: "0", completion: "0" };
const modelOf = (remote: Remote): NonNullable<Models[string]> => ({
  engine: "remote",
  pricing,
  remote: { urls: ["http://front"], tokenizer: "/t", ...remote },
});

function faultsOf(models: Models): readonly string[] {
  try {
    makeConfig({ models });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

test.each([
  "Authorization",
  "content-length",
  "Transfer-Encoding",
  "connection",
  "host",
  "X-Request-Id",
  "traceparent",
])("a session header must not be %s", (session_header) => {
  const faults = faultsOf({ one: modelOf({ front: "ray", session_header }) });
  expect(faults).toEqual([
    `models.one.remote.session_header must not be ${session_header.toLowerCase()}: that header has another meaning`,
  ]);
});

test("a session header must not be one that the front uses for something else", () => {
  const session_header = "X-LLM-D-Inference-Fairness-Id";
  expect(faultsOf({ one: modelOf({ front: "llm-d", session_header }) })).toHaveLength(1);
  expect(faultsOf({ one: modelOf({ front: "ray", session_header }) })).toEqual([]);
});

test("a header must not be set twice, or belong to the connection", () => {
  expect(
    faultsOf({
      one: modelOf({ headers: { "X-S": "a", "x-s": "b", "Content-Length": "1" }, session_header: "x-S" }),
    }),
  ).toEqual([
    "models.one.remote.headers must not set content-length: it belongs to the connection",
    "models.one.remote.headers names x-s twice",
    "models.one.remote.session_header and models.one.remote.headers both set x-s: remove one of them",
  ]);
});

test.each<[string, Remote, Remote, number]>([
  ["the same address and name", { model: "m" }, { model: "m" }, 1],
  ["the same address, spelled differently", { model: "m" }, { model: "m", urls: ["HTTP://FRONT:80/v1/"] }, 1],
  ["other names", { model: "m" }, { model: "n" }, 0],
  ["other addresses", { model: "m" }, { model: "m", urls: ["http://front/b"] }, 0],
])("two models on one front: %s", (_title, one, two, count) => {
  const faults = faultsOf({ one: modelOf({ front: "llm-d", ...one }), two: modelOf({ front: "llm-d", ...two }) });
  expect(faults).toHaveLength(count);
  for (const fault of faults) expect(fault).toContain("models.two and models.one both ask the front at");
});
