import type { Call } from "./calls.ts";
import type { Outcome } from "./outcome.ts";
import type { Job, Sdk } from "./sdk.ts";

/** The bare requests of a call and everything that comes back, without what differs from run to run. */
export const wire: Sdk = {
  name: "HTTP",
  version: "1.1",
  async make(job) {
    const answers: string[] = [];
    for (const { path, body } of requestsOf(job.call)) answers.push(await answerTo(job, path, body));
    return { choices: answers.map((text): NonNullable<Outcome["choices"]>[number] => ({ text, finish: null })) };
  },
  async [Symbol.asyncDispose]() {},
};

interface Request {
  readonly path: string;
  readonly body?: unknown;
}

function requestsOf({ method, members, id = "" }: Call): readonly Request[] {
  const chat = (more: object = {}): Request => ({ path: "/chat/completions", body: { ...members, ...more } });
  const messages = members["messages"] as readonly unknown[]; // every call has a list, but for the wrong ones
  switch (method) {
    case "list models":
      return [{ path: "/models" }];
    case "retrieve a model":
      return [{ path: `/models/${id}` }, { path: `/models/${encodeURIComponent(id)}` }];
    case "stream":
    case "collect":
      return [chat({ stream: true })];
    case "embeddings":
      return [{ path: "/embeddings", body: {} }];
    case "tool loop":
      return [chat(), chat({ messages: [...messages, ...toolTurn], tool_choice: "auto" })];
    case "chat":
    case "parse":
    case "leave":
      return [chat()];
  }
}

/** The turn that SDKs send back: a call with the members that they add, and its result. */
const toolTurn = [
  {
    role: "assistant",
    content: null,
    refusal: null,
    annotations: null,
    audio: null,
    function_call: null,
    tool_calls: [
      { id: "call_7", type: "function", function: { name: "paint", arguments: '{"colour":"red","loud":true}' } },
    ],
  },
  { role: "tool", tool_call_id: "call_7", content: "Done." },
];

async function answerTo({ baseUrl, key }: Job, path: string, body: unknown): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(baseUrl + path, {
    headers,
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  const shown = ["content-type", "retry-after", "retry-after-ms", "x-should-retry"].map((name) =>
    answer.headers.get(name),
  );
  const text = await answer.text().catch(String);
  return `${answer.status} ${shown.join(" ")} ${text}`.replaceAll(
    /[\da-f]{8}-[\da-f-]{27}|req_[\da-f]{32}|\b1\d{9}\b/g,
    "…",
  );
}
