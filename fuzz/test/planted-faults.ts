import type { Answer, Fault } from "./faulty-proxy.ts";

/** What a server may do wrong, and the check that has to say so. */
export interface PlantedFault extends Fault {
  readonly title: string;
  readonly check: string;
  /** How many cases it takes to come across it. */
  readonly cases: number;
}

interface Json {
  usage?: { total_tokens: number; cost_usd: string };
  error?: { message: string; code: string; param: string | null };
}

const inJson =
  (change: (value: Json) => void) =>
  (answer: Answer): void => {
    if (!answer.headers["content-type"]?.startsWith("application/json") || answer.body === "") return;
    const value = JSON.parse(answer.body) as Json; // what our own server wrote
    change(value);
    answer.body = JSON.stringify(value);
  };

const inStream =
  (change: (text: string) => string) =>
  (answer: Answer): void => {
    if (answer.headers["content-type"]?.startsWith("text/event-stream")) answer.body = change(answer.body);
  };

const without =
  (name: string) =>
  ({ headers }: Answer): void =>
    void Reflect.deleteProperty(headers, name);

function changeLastId(text: string): string {
  const start = '"id":"chatcmpl-';
  const place = text.lastIndexOf(start) + start.length;
  return `${text.slice(0, place)}other${text.slice(place)}`;
}

const fault = (title: string, check: string, how: Fault, cases = 120): PlantedFault => ({
  title,
  check,
  cases,
  ...how,
});

export const plantedFaults: readonly PlantedFault[] = [
  fault("a stream without its last word", "stream_events", {
    answer: inStream((text) => text.replace("data: [DONE]\n\n", "")),
  }),
  fault("an id that changes in mid-stream", "stream_events", { answer: inStream(changeLastId) }),
  fault("a choice that never finishes", "stream_events", {
    answer: inStream((text) => text.replaceAll(/data: .*"finish_reason":".*\n\n/g, "")),
  }),
  fault("a total that is no sum", "usage_arithmetic", {
    answer: inJson(({ usage }) => usage && (usage.total_tokens += 1)),
  }),
  fault("a price in doubles", "usage_arithmetic", {
    answer: inJson(({ usage }) => usage && (usage.cost_usd += "000000004")),
  }),
  fault("a code that does not go with its status", "error_envelope", {
    answer: inJson(({ error }) => error && (error.code = "timeout")),
  }),
  fault("a fault without its member", "judgement", {
    answer: inJson(({ error }) => error?.code === "invalid_type" && (error.param = null)),
  }),
  fault("a stack in a message", "no_leak", {
    answer: inJson(({ error }) => error && (error.message += "\n    at read (body.ts:12:3)")),
  }),
  fault("ignored members that nobody names", "ignored_params", { answer: without("x-ignored-params") }),
  fault("limits that are not shown", "rate_limit_headers", { answer: without("x-ratelimit-remaining-tokens") }),
  fault(
    "a temperature that is bent to its bounds",
    "judgement",
    { ask: (body) => body.replace(/"temperature"( ?): *-?[\d.e]+/, '"temperature":1') },
    400,
  ),
];
