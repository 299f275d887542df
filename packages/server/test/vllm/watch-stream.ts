import { judgeStream } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";

/** One stream, as its caller saw it. */
export interface Seen {
  /** The request id, as it is in the ledger. */
  readonly id: string;
  readonly models: ReadonlySet<string>;
  readonly fingerprints: ReadonlySet<string>;
  /** Number of tokens that arrived, counted by their log-probabilities. */
  readonly tokens: number;
  /** The text of the answer. For `refused`: the status and the body. */
  readonly text: string;
  /** `silence`: the bytes ended without `[DONE]`, an error event or a broken connection. That must never happen. */
  readonly end: "whole" | "error" | "reset" | "silence" | "refused";
}

export interface Watching {
  /** Tokens so far. */
  tokens: number;
  readonly seen: Promise<Seen>;
}

type Members = Readonly<Record<string, unknown>>;

/** Starts a stream and reads it until it ends in any way. Checks all events against the contract. */
export function watchStream(server: Pick<TestServer, "chat">, members: Members): Watching {
  const watching: { tokens: number; seen: Promise<Seen> } = { tokens: 0, seen: new Promise(() => undefined) };
  watching.seen = read(server, { ...members, logprobs: true }, (tokens) => (watching.tokens += tokens));
  return watching;
}

async function read(
  server: Pick<TestServer, "chat">,
  members: Members,
  onTokens: (count: number) => void,
): Promise<Seen> {
  const response = await server.chat({ ...members, stream: true });
  const id = response.headers.get("x-request-id") ?? "";
  const nothing = { id, models: new Set<string>(), fingerprints: new Set<string>(), tokens: 0, text: "" };
  if (response.status !== 200 || !response.body)
    return { ...nothing, text: `${response.status} ${await response.text()}`, end: "refused" };
  const decoder = new TextDecoder();
  let transcript = "";
  let isReset = false;
  try {
    for await (const bytes of response.body) {
      const text = decoder.decode(bytes, { stream: true });
      transcript += text;
      onTokens(text.split('"logprob":').length - 1);
    }
  } catch {
    isReset = true;
  }
  return { id, ...summarize(members, transcript, isReset) };
}

function summarize(members: Members, transcript: string, isReset: boolean): Omit<Seen, "id"> {
  // A broken connection may cut an event.
  const whole = isReset ? transcript.slice(0, transcript.lastIndexOf("\n\n") + 2) : transcript;
  const { chunks, text, end } = judgeStream(members, whole);
  return {
    models: new Set(chunks.map(({ model }) => model)),
    fingerprints: new Set(chunks.map(({ system_fingerprint }) => system_fingerprint)),
    tokens: chunks.reduce((sum, { choices }) => sum + (choices[0]?.logprobs?.content?.length ?? 0), 0),
    text,
    end: endOf(end, isReset),
  };
}

function endOf(state: string, isReset: boolean): Seen["end"] {
  if (state === "done") return "whole";
  if (state === "failed") return "error";
  return isReset ? "reset" : "silence";
}
