import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { Answer } from "../wire/answer.ts";
import { Connection } from "../wire/connection.ts";
import type { Target } from "../wire/connection.ts";
import type { RunProfile } from "../profile.ts";
import type { Exchange } from "../wire/exchange.ts";
import type { HttpRequest, Secrets } from "../wire/http-request.ts";
import { answerCases } from "./answer-cases.ts";
import { finding } from "./case.ts";
import type { Case, Finding, Seen } from "./case.ts";
import { contentOf } from "../judge/read.ts";
import { requestCases } from "./request-cases.ts";
import { answerWith, choice, completion, plainAnswer } from "./scripts.ts";
import { streamCases } from "./stream-cases.ts";
import type { Received, Script, Upstream } from "./upstream.ts";

/** All cases. Those that make the upstream fail come last, because some gateways then pause their requests to it. */
const breaksUpstream = ({ script }: Case): boolean => (script.status ?? 200) >= 400 || script.end === "reset";
/** The only case of several requests. */
export const isolationCase = {
  name: "isolation",
  does: "Sends eight requests at the same time: each caller receives the answer to its own.",
};
const ordered = [...requestCases, ...streamCases, ...answerCases];
export const sandwichCases: readonly Case[] = [
  ...ordered.filter((one) => !breaksUpstream(one)),
  ...ordered.filter(breaksUpstream),
];
export const sandwichNames: readonly string[] = [...sandwichCases.map(({ name }) => name), isolationCase.name];

export interface SandwichOptions {
  /** Only the address and the headers of the gateway are read. */
  readonly profile: Pick<RunProfile, "origin" | "basePath" | "extraHeaders">;
  /** Values of the credentials; `key` is the caller's key of the gateway. */
  readonly secrets: Secrets;
  readonly ca?: string | undefined;
  /** The model as the caller names it. */
  readonly model: string;
  /** The model as the gateway has to name it; undefined: any name is right. */
  readonly upstreamModel?: string | undefined;
  readonly deadlineMs: number;
  /** The gateway may take this long until its first request reaches the upstream. */
  readonly startMs: number;
  /** Names of the cases to run. */
  readonly names: readonly string[];
  readonly onCase?: (name: string) => void;
}

export interface CaseResult {
  readonly name: string;
  readonly does: string;
  readonly findings: readonly Finding[];
  /** The reason if the case was not judged. */
  readonly open?: string;
}

/** The evidence of one request. `received` has no headers, because they contain the gateway's own key. */
export interface SandwichExchange {
  readonly caller: Exchange;
  readonly received: readonly Pick<Received, "target" | "body">[];
}

export interface SandwichRun {
  readonly results: readonly CaseResult[];
  readonly exchanges: readonly SandwichExchange[];
}

/** No request reaches the upstream, so nothing can be compared. */
class NotInBetweenError extends Error {
  override readonly name = "NotInBetweenError";
}

/**
 * Sends every case through the gateway and compares both ends.
 * @throws {NotInBetweenError}
 */
export async function runSandwich(upstream: Upstream, options: SandwichOptions): Promise<SandwichRun> {
  const line = new Line(upstream, options);
  const first = await line.reach(options.startMs);
  if (first.received.length === 0)
    throw new NotInBetweenError(
      `No request reached the upstream at ${upstream.baseUrl}. The gateway answered: ${first.answer.summary}. Configure it to use that address.`,
    );
  const results: CaseResult[] = [];
  let open: string | undefined;
  let pausedMs = 0;
  for (const one of sandwichCases.filter(({ name }) => options.names.includes(name))) {
    options.onCase?.(one.name);
    if (open !== undefined) {
      results.push({ name: one.name, does: one.does, findings: [], open });
      continue;
    }
    const seen = await line.send(one);
    const pause = breaksUpstream(one) ? await line.recover() : 0;
    pausedMs += pause ?? 0;
    if (pause === undefined) open = `after ${one.name} no request reached the upstream for ${maxPauseMs / 1000} s`;
    else if (pausedMs > maxPausesMs)
      open = `the gateway pauses after errors, for ${Math.round(pausedMs / 1000)} s so far; --only judges them one by one`;
    results.push({ name: one.name, does: one.does, findings: [...judge(one, seen), ...pauseFindings(one, pause)] });
  }
  if (options.names.includes(isolationCase.name) && open === undefined) results.push(await line.judgeIsolation());
  return { results, exchanges: line.exchanges };
}

/** The name of requests that look whether the gateway uses the upstream. They are not recorded. */
const reaching = "reach";

/** The longest wait for a gateway that stops using an upstream after an error. */
const maxPauseMs = 70_000;
/** The longest wait for all pauses together. The cases after it stay open. */
const maxPausesMs = 120_000;

function judge(one: Case, seen: Seen): readonly Finding[] {
  if (seen.received.length > 0 || one.behaviour !== undefined) return one.judge(seen);
  const says = "The request did not reach the upstream: the gateway answered it.";
  return [finding("lost", "request", "the request", says, { got: `${one.name}: ${seen.answer.summary}` })];
}

function pauseFindings({ name }: Case, pauseMs: number | undefined): Finding[] {
  if (pauseMs === 0) return [];
  const seconds = Math.round((pauseMs ?? maxPauseMs) / 1000);
  const says = `After ${name} the gateway refused requests for ${pauseMs === undefined ? "more than " : "about "}${seconds} s without asking the upstream.`;
  return [finding("lost", "connection", "requests after an error", says, { isNote: true })];
}

/** The way from the caller through the gateway to the upstream. */
class Line {
  readonly exchanges: SandwichExchange[] = [];
  readonly #upstream: Upstream;
  readonly #options: SandwichOptions;
  readonly #beganMs = performance.now();

  constructor(upstream: Upstream, options: SandwichOptions) {
    this.#upstream = upstream;
    this.#options = options;
  }

  async send({ name, members, messages = [], raw, headers = {}, script, behaviour }: Case): Promise<Seen> {
    const nonce = `sandwich ${name} ${randomUUID().slice(0, 8)}`;
    const { model, upstreamModel } = this.#options;
    const text = JSON.stringify({ model, messages: [{ role: "user", content: nonce }, ...messages], ...members });
    const sent = raw === undefined ? text : `${text.slice(0, -1)},${raw}}`;
    const play = this.#upstream.play(nonce, script);
    using connection = new Connection(this.#target());
    const caller = await connection.exchange(name, this.#request(sent, headers, behaviour));
    const endedAtMs = performance.now();
    if (behaviour !== undefined) await hungUp(play.received);
    this.#upstream.stop(nonce);
    if (name !== reaching)
      this.exchanges.push({ caller, received: play.received.map(({ target, body }) => ({ target, body })) });
    const answer = new Answer(caller);
    const callerKey = this.#options.secrets.get("key") ?? "";
    return { sent, headers, answer, received: play.received, script, endedAtMs, callerKey, model, upstreamModel };
  }

  #request(body: string, headers: Readonly<Record<string, string>>, behaviour: Case["behaviour"]): HttpRequest {
    const { profile } = this.#options;
    return {
      method: "POST",
      target: `${profile.basePath}/chat/completions`,
      headers: [
        ["Authorization", "Bearer {key}"],
        ["Content-Type", "application/json"],
        ...Object.entries(headers),
        ...profile.extraHeaders,
      ],
      body,
      ...(behaviour && { behaviour }),
    };
  }

  #target(): Target {
    const { profile, secrets, ca, deadlineMs } = this.#options;
    return {
      origin: new URL(profile.origin),
      ca,
      secrets,
      deadlineMs,
      maxAnswerBytes: 16 * 1024 * 1024,
      now: () => performance.now() - this.#beganMs,
      signal: new AbortController().signal,
    };
  }

  /** Sends plain requests until one reaches the upstream, or the time is over. */
  async reach(ms: number): Promise<Seen> {
    const beganMs = performance.now();
    for (;;) {
      const seen = await this.send({ name: reaching, does: "", script: plainAnswer, judge: () => [] });
      if (seen.received.length > 0 || performance.now() - beganMs >= ms) return seen;
      await wait(1000);
    }
  }

  /** Returns for how many milliseconds no request reached the upstream; undefined: none did in time. */
  async recover(): Promise<number | undefined> {
    const beganMs = performance.now();
    const first = await this.reach(0);
    if (first.received.length > 0) return 0;
    const { received } = await this.reach(maxPauseMs);
    return received.length > 0 ? performance.now() - beganMs : undefined;
  }

  /** Sends requests at the same time, each with another answer. */
  async judgeIsolation(): Promise<CaseResult> {
    const { name, does } = isolationCase;
    const callers = Array.from({ length: 8 }, (_, index) => index);
    const all = await Promise.all(
      callers.map(async (index) => {
        const text = `answer ${index}`;
        const script: Script = answerWith(completion([choice({ content: text }, "stop")]));
        const slow = { ...script, pieces: script.pieces.map((piece) => ({ ...piece, afterMs: 200 })) };
        const { answer } = await this.send({ name: `${name}-${index}`, does, script: slow, judge: () => [] });
        return { text, got: contentOf(answer), answer };
      }),
    );
    const findings = all
      .filter(({ text, got }) => text !== got)
      .map(({ text, got, answer }) =>
        finding(
          "changed",
          "answer",
          "one of eight answers",
          "Of eight requests at the same time, one received another answer than its own.",
          {
            sent: text,
            got: got === "" ? answer.summary : got,
          },
        ),
      );
    return { name, does, findings };
  }
}

const maxHangUpMs = 3200;

/** Waits until the gateway has closed its connection to the upstream, for a bounded time. */
async function hungUp(received: readonly Received[]): Promise<void> {
  const untilMs = performance.now() + maxHangUpMs;
  while (received[0]?.hungUpAtMs === undefined && performance.now() < untilMs) await wait(20);
}
