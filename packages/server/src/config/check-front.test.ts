import { expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { makeConfig } from "./read-config.ts";
import type { ConfigChanges } from "./read-config.ts";
import { remoteSchema } from "./remote-settings.ts";

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
  for (const fault of faults)
    expect(fault).toContain("models.two and models.one both ask the front at http://front for");
});

test("two models collide at the address that both have, also if only one of them names the front", () => {
  const one = modelOf({ model: "m", urls: ["http://a", "http://front"] });
  const two = modelOf({ model: "m", urls: ["http://b", "http://front/v1"], front: "ray" });
  const faults = ["models.two and models.one both ask the front at http://front for m: set remote.model of one"];
  expect(faultsOf({ one, two })).toEqual(faults);
  expect(faultsOf({ one, two: { ...two, remote: { ...two.remote, front: "generic" } } })).toEqual([]);
});

test.each<[string, string[], string]>([
  ["an address twice", ["http://a:80/v1", "HTTP://A/"], "urls names http://a twice"],
  ["a password", ["http://me:secret@a"], "urls must not hold a user or a password for a: set api_key_env"],
])("one model must not have %s", (_title, urls, fault) => {
  expect(faultsOf({ one: modelOf({ urls }) })).toEqual([expect.stringContaining(`models.one.remote.${fault}`)]);
});

test.each<[string, Remote]>([
  ["urls", { urls: ["http://a#part"] }],
  ["headers", { headers: { "x-a": "\0" } }],
  ["headers", { headers: { "x-a": "日本" } }],
])("%s that no request could have are refused: %j", (name, remote) => {
  const { error } = remoteSchema.safeParse(remote);
  expect(error?.issues).toMatchObject([{ path: [name, expect.anything()] }]);
});
