import { isRecord } from "../../src/judge/read.ts";
import { startReference } from "../reference/server.ts";
import type { KeyRules } from "../reference/keys.ts";
import type { Mutant } from "../reference/mutant.ts";
import type { Call } from "./calls.ts";
import { hangs, thrown } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";
import type { Sdk } from "./sdk.ts";

/** The outcome, the number of requests that the server saw, and whether the SDK's message holds the server's. */
export interface Observed extends Omit<Outcome, "says"> {
  readonly requests: number;
  /** The message of the SDK's error, or "the server's" if it has the message that the server sent. */
  readonly says?: string;
}

const keys: Readonly<Record<string, KeyRules>> = {
  key: {},
  expired: { state: "expired" },
  spent: { isSpent: true },
  tokens: { tokensPerMinute: 15 },
  concurrency: { concurrency: 1 },
  restricted: { models: ["reference/toy"] },
  // A request every three seconds: longer than the SDKs wait by default.
  spare: { requestsPerMinute: 20 },
  rare: { requestsPerMinute: 0.4 },
};
const secretOf = (role: string): string =>
  role === "none" ? "" : role === "unknown" ? "pk-unknown" : `${role}-Vr7Qz2Lk9Xw4Tn`;

/** Milliseconds after which a call hangs. The SDKs give up earlier, if they ever do. */
const patienceMs = 25_000;

/** Makes calls to the reference server with one bug, or with none. */
export async function observe(sdk: Sdk, calls: readonly Call[], mutant: Mutant = {}): Promise<Map<string, Observed>> {
  const seen = { requests: 0, message: "" };
  const settings = { requestMs: 9000, patienceMs: 600, keepAliveMs: 600 };
  const rules = new Map(Object.entries(keys).map(([role, own]) => [secretOf(role), own]));
  await using server = await startReference(rules, settings, watched(mutant, seen));
  const outcomes = new Map<string, Observed>();
  for (const call of calls) {
    const key = secretOf(call.key ?? "key");
    if (call.isDrained === true) await drain(server.baseUrl, key);
    await sdk.ready?.();
    seen.requests = 0;
    seen.message = "";
    const outcome = await made(sdk, { baseUrl: server.baseUrl, key, call });
    if (outcome) outcomes.set(call.name, { ...told(outcome, seen.message), requests: seen.requests });
  }
  return outcomes;
}

async function made(sdk: Sdk, job: Parameters<Sdk["make"]>[0]): Promise<Outcome | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({ throws: hangs }), patienceMs);
  });
  const outcome = await Promise.race([sdk.make(job).catch(thrown), late]);
  clearTimeout(timer);
  return outcome;
}

/** Replaces the server's own message, which may have a request's id or another wording. */
function told({ says, ...outcome }: Outcome, message: string): Omit<Observed, "requests"> {
  if (says === undefined) return outcome;
  const isServers = [message, "The engine failed."].some((one) => one !== "" && says.includes(one));
  return { ...outcome, says: isServers ? "the server's" : says.replaceAll(/[\w-]{30,}|:\d{4,5}/g, "…").slice(0, 160) };
}

/** Sends requests with a key until one is refused. */
async function drain(baseUrl: string, key: string): Promise<void> {
  const body = JSON.stringify({ model: "reference/toy", max_tokens: 1, messages: [{ role: "user", content: "x" }] });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  for (let status = 200, turn = 0; status === 200 && turn < 100; turn += 1) {
    const answer = await fetch(`${baseUrl}/chat/completions`, { method: "POST", headers, body });
    await answer.arrayBuffer();
    ({ status } = answer);
  }
}

/** Counts the requests, and keeps the last message. */
function watched(mutant: Mutant, seen: { requests: number; message: string }): Mutant {
  return {
    ...mutant,
    early: (head) => {
      seen.requests += 1;
      return mutant.early?.(head);
    },
    reply: (reply, head) => {
      const shown = mutant.reply?.(reply, head) ?? reply;
      if (isRecord(shown.body) && isRecord(shown.body["error"])) seen.message = String(shown.body["error"]["message"]);
      return shown;
    },
  };
}
