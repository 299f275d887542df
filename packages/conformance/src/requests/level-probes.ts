import type { Level } from "../contract/contract.ts";
import type { Step } from "../judge/check.ts";
import type { Context } from "../judge/context.ts";
import { cannot, must } from "../judge/finding.ts";
import { valueAt, completionOf, contentOf, finishOf, isRecord, listAt, parse, textAt } from "../judge/read.ts";
import { chat, httpRequest, say } from "./chat-request.ts";

/** A probe of a level that is not claimed. It shows if the service has the level at all, not if its clauses are kept. */
export interface Probe {
  /** Steps that it reads. Those that no check uses are sent for the probe. */
  readonly uses: readonly string[];
  /** Returns what was found, and throws through `broken` or `cannot` if nothing was. */
  readonly judge: (context: Context) => string;
}

const format = {
  type: "json_schema",
  json_schema: {
    name: "probe",
    schema: {
      type: "object",
      properties: { colour: { enum: ["red", "blue"] } },
      required: ["colour"],
      additionalProperties: false,
    },
  },
};
const tools = [{ type: "function", function: { name: "look_up", parameters: { type: "object", properties: {} } } }];

export const probeSteps: readonly Step[] = [
  {
    name: "probe of stream",
    needs: ["models"],
    requests: (context) => [chat(context, { stream: true, max_completion_tokens: 4 })],
  },
  {
    name: "probe of tools",
    needs: ["models"],
    requests: (context) => [chat(context, { tools, tool_choice: "required", max_completion_tokens: 48 })],
  },
  {
    name: "probe of structured",
    needs: ["models"],
    requests: (context) => [chat(context, { response_format: format, max_completion_tokens: 24 })],
  },
  {
    name: "probe of logprobs",
    needs: ["models"],
    requests: (context) => [chat(context, { logprobs: true, top_logprobs: 2, max_completion_tokens: 4 })],
  },
  {
    name: "probe of account",
    requests: (context) => [httpRequest(context, "GET", `${context.profile.basePath}/key`)],
  },
  {
    name: "probe of idempotency",
    needs: ["models"],
    requests: (context) => [chat(context, { max_completion_tokens: 1 }, { headers: [["Idempotency-Key", ""]] })],
  },
  {
    name: "probe of ops",
    needs: ["models"],
    how: "side by side",
    requests: (context) =>
      ["one", "two"].map((word) =>
        chat(context, { ...say(`Repeat this word: ${word}`), stream: true, max_completion_tokens: 4 }),
      ),
  },
];

/** Steps that ask for nothing but a level. A service that refuses one does not offer the level. */
const gates: Partial<Readonly<Record<Level, string>>> = {
  tools: "probe of tools",
  structured: "probe of structured",
  logprobs: "probe of logprobs",
  account: "probe of account",
  idempotency: "probe of idempotency",
};

/** The steps that show which of the levels are offered. */
export const gatesOf = (presumed: readonly Level[] = []): string[] => presumed.flatMap((level) => gates[level] ?? []);

/** Returns why the clauses of a level that nobody claimed are not judged: the service refused to offer it. */
export function refusalOf(level: Level, context: Context): string | undefined {
  const gate = gates[level];
  if (gate === undefined || !(context.profile.presumed?.includes(level) ?? false) || !context.wasSent(gate))
    return undefined;
  const { status = 0, summary } = context.answer(gate);
  const isRefused = (status >= 400 && status < 500) || status === 501;
  return isRefused
    ? `the service does not offer ${level}: ${summary}; --level ${level} judges it nevertheless`
    : undefined;
}

const six = ["limit", "remaining", "reset"].flatMap((what) =>
  ["requests", "tokens"].map((of) => `x-ratelimit-${what}-${of}`),
);

function mustStream(context: Context, step: string): string {
  for (const answer of context.answers(step)) {
    completionOf(answer);
    must(
      answer.mediaType === "text/event-stream" && typeof finishOf(answer) === "string",
      answer,
      "a stream with an end",
      answer.summary,
    );
  }
  return "streams with an end";
}

export const probes: Readonly<Record<Level, Probe>> = {
  core: {
    uses: ["plain"],
    judge: (context) => {
      completionOf(context.answer("plain"));
      return "a plain request is answered";
    },
  },
  stream: { uses: ["probe of stream"], judge: (context) => mustStream(context, "probe of stream") },
  sampling: {
    uses: ["upper bounds"],
    judge: (context) => {
      completionOf(context.answer("upper bounds"));
      return "a request with every sampling member is answered";
    },
  },
  tools: {
    uses: ["probe of tools"],
    judge: (context) => {
      const answer = context.answer("probe of tools");
      completionOf(answer);
      const name = valueAt(answer.json, "/choices/0/message/tool_calls/0/function/name");
      must(name === "look_up", answer, "a call of the function that was offered", answer.summary);
      return "a call is made where one is required";
    },
  },
  structured: {
    uses: ["probe of structured"],
    judge: (context) => {
      const answer = context.answer("probe of structured");
      completionOf(answer);
      const value = parse(contentOf(answer));
      const isHeld = isRecord(value) && ["red", "blue"].includes(String(value["colour"]));
      must(isHeld, answer, "an object of the schema", contentOf(answer).slice(0, 100));
      return "an answer has the form of the schema";
    },
  },
  logprobs: {
    uses: ["upper bounds"],
    judge: (context) => {
      const answer = context.answer("upper bounds");
      completionOf(answer);
      const [entry] = listAt(answer.json, "/choices/0/logprobs/content");
      must(textAt(entry, "/token") !== undefined, answer, "an entry per token", "no entry");
      return "entries come where they are asked for";
    },
  },
  limits: {
    uses: ["plain"],
    judge: (context) => {
      const answer = context.answer("plain");
      const missing = six.filter((name) => answer.header(name) === undefined);
      if (missing.length === six.length) cannot("no x-ratelimit header");
      must(missing.length === 0, answer, "the six x-ratelimit headers", `no ${missing.join(", ")}`);
      return "the six headers are there";
    },
  },
  ops: {
    uses: ["probe of ops"],
    judge: (context) => {
      mustStream(context, "probe of ops");
      const ids = context.answers("probe of ops").map((answer) => /"id":"([^"]+)"/.exec(answer.text)?.[1]);
      must(new Set(ids).size === ids.length, context.answer("probe of ops"), "an id for each", ids.join(", "));
      return "two streams run side by side";
    },
  },
  idempotency: {
    uses: ["probe of idempotency"],
    judge: (context) => {
      const answer = context.answer("probe of idempotency");
      if (answer.status === 200) cannot("the header Idempotency-Key is ignored");
      must(answer.status === 400, answer, "status 400 for an empty Idempotency-Key", answer.summary);
      return "the header Idempotency-Key is read";
    },
  },
  account: {
    uses: ["probe of account"],
    judge: (context) => {
      const answer = context.answer("probe of account");
      const isShown = answer.status === 200 && isRecord(valueAt(answer.json, "/limits"));
      must(isShown, answer, "the limits of the own key", answer.summary);
      return "the own key shows its limits";
    },
  },
};
