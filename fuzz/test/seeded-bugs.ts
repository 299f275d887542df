import type { Answer, Mutation } from "./mutating-proxy.ts";

/** A possible bug of a server, and the check that must find it. */
export interface SeededBug extends Mutation {
  readonly title: string;
  readonly check: string;
  /** Number of cases that the fuzzer needs to find it. */
  readonly cases: number;
}

interface Json {
  usage?: { total_tokens: number; cost_usd: string };
  error?: { message: string; code: string; param: string | null };
}

const changeJson =
  (change: (value: Json) => void) =>
  (answer: Answer): void => {
    if (!answer.headers["content-type"]?.startsWith("application/json") || answer.body === "") return;
    const value = JSON.parse(answer.body) as Json; // what our own server wrote
    change(value);
    answer.body = JSON.stringify(value);
  };

const changeStream =
  (change: (text: string) => string) =>
  (answer: Answer): void => {
    if (answer.headers["content-type"]?.startsWith("text/event-stream")) answer.body = change(answer.body);
  };

const dropHeader =
  (name: string) =>
  ({ headers }: Answer): void =>
    void Reflect.deleteProperty(headers, name);

function changeLastId(text: string): string {
  const start = '"id":"chatcmpl-';
  const place = text.lastIndexOf(start) + start.length;
  return `${text.slice(0, place)}other${text.slice(place)}`;
}

const bug = (title: string, check: string, how: Mutation, cases = 120): SeededBug => ({
  title,
  check,
  cases,
  ...how,
});

/** Repeats the first page of the audit log that is read for the last change. */
function freezeAudit(): (answer: Answer) => void {
  let first: string | undefined;
  return (answer) => {
    if (/^\{"data":\[\{"id":\d+,"at":/.test(answer.body)) answer.body = first ??= answer.body;
  };
}

/** Seeded bugs of the admin API. */
export const adminBugs: readonly SeededBug[] = [
  bug(
    "a refusal of a change that was made",
    "changes",
    {
      answer: (answer) => {
        if (answer.status === 201) answer.status = 409;
      },
    },
    5,
  ),
  bug("a change without an entry in the audit log", "changes", { answer: freezeAudit() }, 5),
  bug(
    "a key without the scope that gets in",
    "who_may",
    {
      answer: (answer) => {
        if (answer.body.includes('"missing_scope"')) answer.status = 200;
      },
    },
    5,
  ),
  bug(
    "a secret in an error",
    "no_secret",
    {
      answer: changeJson(({ error }) => error && (error.message += `parley_0123456789ab.${"0".repeat(43)}`)),
    },
    5,
  ),
];

export const seededBugs: readonly SeededBug[] = [
  bug("a stream without its last event", "stream_events", {
    answer: changeStream((text) => text.replace("data: [DONE]\n\n", "")),
  }),
  bug("an id that changes in mid-stream", "stream_events", { answer: changeStream(changeLastId) }),
  bug("a choice that never finishes", "stream_events", {
    answer: changeStream((text) => text.replaceAll(/data: .*"finish_reason":".*\n\n/g, "")),
  }),
  bug("a total that is not the sum", "usage_arithmetic", {
    answer: changeJson(({ usage }) => usage && (usage.total_tokens += 1)),
  }),
  bug("a price in doubles", "usage_arithmetic", {
    answer: changeJson(({ usage }) => usage && (usage.cost_usd += "000000004")),
  }),
  bug("a code that does not go with its status", "error_envelope", {
    answer: changeJson(({ error }) => error && (error.code = "timeout")),
  }),
  bug("an error that does not name the field", "judgement", {
    answer: changeJson(({ error }) => error?.code === "invalid_type" && (error.param = null)),
  }),
  bug("a stack in a message", "no_leak", {
    answer: changeJson(({ error }) => error && (error.message += "\n    at read (body.ts:12:3)")),
  }),
  bug("ignored members that nobody names", "ignored_params", { answer: dropHeader("x-ignored-params") }),
  bug("limits that are not shown", "rate_limit_headers", { answer: dropHeader("x-ratelimit-remaining-tokens") }),
  bug(
    "a temperature that is clamped to its bounds",
    "judgement",
    { request: (body) => body.replace(/"temperature"( ?): *-?[\d.e]+/, '"temperature":1') },
    400,
  ),
];
