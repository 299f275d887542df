import { once } from "node:events";
import { request } from "node:http";
import type { Agent, IncomingMessage } from "node:http";

/** Members of a request body, by their wire names. */
export type Members = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly tookMs: number;
}

export interface Question {
  readonly url: string;
  readonly method?: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
  /** Absent: the request uses a new connection. */
  readonly agent?: Agent;
  readonly timeoutMs?: number;
  /** Called with each part of the answer. */
  readonly onText?: (text: string) => void;
}

/** Sends one request and reads its answer. Rejects if no answer comes, or if the signal or the time-out ends the request. */
export async function ask(question: Question): Promise<Answer> {
  const { url, method = "GET", token, headers = {}, body, agent, timeoutMs = 60_000, onText } = question;
  const startedMs = performance.now();
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(question.signal ? [question.signal] : [])]);
  const sent = request(url, {
    method,
    agent: agent ?? false,
    signal,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(body).toString() }),
      ...headers,
    },
  });
  // A server that refuses a body may answer and then reset the connection while the body is still being sent.
  sent.on("error", () => undefined);
  sent.end(body);
  const [response] = (await once(sent, "response", { signal })) as [IncomingMessage]; // what the event carries
  const parts: string[] = [];
  for await (const part of response.setEncoding("utf8") as AsyncIterable<string>) {
    parts.push(part);
    onText?.(part);
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: parts.join(""),
    tookMs: performance.now() - startedMs,
  };
}

/** Sends a chat request. The given members replace those of a plain request. */
export const chat = (
  origin: string,
  token: string,
  members: Members = {},
  more: Partial<Question> = {},
): Promise<Answer> =>
  ask({ ...more, url: `${origin}/v1/chat/completions`, method: "POST", token, body: JSON.stringify(toBody(members)) });

/** Sends a chat request with a body given as bytes. */
export const post = (
  origin: string,
  token: string,
  body: string | Buffer,
  more: Partial<Question> = {},
): Promise<Answer> => ask({ ...more, url: `${origin}/v1/chat/completions`, method: "POST", token, body });

export const toBody = (members: Members): object => ({
  model: "vendor/model-1",
  messages: [{ role: "user", content: "Hello" }],
  max_tokens: 16,
  ...members,
});

export const say = (content: unknown): Members => ({ messages: [{ role: "user", content }] });
export const play = (scenario: string): Members => say(`script:${scenario}`);
