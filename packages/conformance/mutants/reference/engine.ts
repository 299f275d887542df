import { setTimeout as wait } from "node:timers/promises";
import type { ScriptStep } from "../../src/scenarios.ts";
import { answerOf, conversationOf } from "./language.ts";
import type { Token } from "./language.ts";

type Body = Readonly<Record<string, unknown>>;

/** An event of the engine: a delta of one choice, and its number of tokens. */
export type EngineEvent = { readonly choice: number; readonly count: number } & (
  | { readonly kind: "role" }
  | { readonly kind: "text"; readonly text: string; readonly tokens: readonly Token[] }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "tool"; readonly id?: string; readonly name?: string; readonly arguments: string }
  | { readonly kind: "finish"; readonly reason: string }
);

/** The engine broke off, fell silent or sent something invalid. */
export class EngineFailureError extends Error {
  override readonly name = "EngineFailureError";
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

export interface Engine {
  /** The time until which it is down, in milliseconds since 1970. */
  downUntilMs: number;
  readonly scenarios: Readonly<Record<string, readonly ScriptStep[]>>;
}

/** The events of all choices of a request, one choice after another. */
export async function* generate(
  engine: Engine,
  body: Body,
  maxTokens: number,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  const last = conversationOf(body).findLast(({ role }) => role === "user")?.text ?? "";
  const scenario = last.startsWith("script:") ? engine.scenarios[last.slice("script:".length)] : undefined;
  if (scenario) return yield* play(engine, scenario, signal);
  const n = typeof body["n"] === "number" ? body["n"] : 1;
  for (let choice = 0; choice < n; choice += 1) yield* speak(body, choice, maxTokens);
}

function* speak(body: Body, choice: number, maxTokens: number): Generator<EngineEvent> {
  const { reasoning, tokens, call } = answerOf(body, choice);
  yield { kind: "role", choice, count: 0 };
  for (const text of reasoning.slice(0, maxTokens)) yield { kind: "reasoning", choice, text, count: 1 };
  const room = maxTokens - reasoning.length;
  if (room <= 0) return yield { kind: "finish", choice, reason: "length", count: 0 };
  if (call) {
    yield { kind: "tool", choice, id: `call_${crypto.randomUUID()}`, name: call.name, arguments: "", count: 0 };
    for (const piece of call.pieces.slice(0, room)) yield { kind: "tool", choice, arguments: piece, count: 1 };
    return yield { kind: "finish", choice, reason: call.pieces.length > room ? "length" : "tool_calls", count: 0 };
  }
  yield* speakText(body, choice, tokens.slice(0, room), tokens.length > room);
}

function* speakText(body: Body, choice: number, tokens: readonly Token[], isCut: boolean): Generator<EngineEvent> {
  const stops = [body["stop"] ?? []].flat().map(String);
  const whole = tokens.map(({ text }) => text).join("");
  const ends = stops.map((stop) => whole.indexOf(stop)).filter((at) => at >= 0);
  const end = ends.length > 0 ? Math.min(...ends) : whole.length;
  let at = 0;
  for (const token of tokens) {
    const text = token.text.slice(0, Math.max(0, end - at));
    at += token.text.length;
    if (text !== "")
      yield { kind: "text", choice, text, tokens: [text === token.text ? token : { ...token, text }], count: 1 };
    if (ends.length > 0 && at >= end) break;
  }
  yield { kind: "finish", choice, reason: isCut && ends.length === 0 ? "length" : "stop", count: 0 };
}

async function* play(engine: Engine, steps: readonly ScriptStep[], signal: AbortSignal): AsyncGenerator<EngineEvent> {
  for (const step of steps) {
    signal.throwIfAborted();
    if (typeof step["repeat"] === "number") {
      // A scenario is a list of steps.
      const inner = step["steps"] as readonly ScriptStep[];
      for (let turn = 0; turn < step["repeat"]; turn += 1) yield* play(engine, inner, signal);
      continue;
    }
    const event = eventOf(step);
    if (event) yield event;
    else await disturb(engine, step, signal);
  }
}

function eventOf(step: ScriptStep): EngineEvent | undefined {
  const count = typeof step["tokens"] === "number" ? step["tokens"] : 1;
  const { text, reasoning, finish } = step;
  if (step["role"] === true) return { kind: "role", choice: 0, count: 0 };
  if (typeof text === "string")
    return { kind: "text", choice: 0, text, tokens: [{ text, logprob: -0.1, top: [] }], count };
  if (typeof reasoning === "string") return { kind: "reasoning", choice: 0, text: reasoning, count };
  return typeof finish === "string" ? { kind: "finish", choice: 0, reason: finish, count: 0 } : undefined;
}

async function disturb(engine: Engine, step: ScriptStep, signal: AbortSignal): Promise<void> {
  if (typeof step["wait_ms"] === "number") await wait(step["wait_ms"], undefined, { signal });
  if (step["stall"] === true) await wait(2 ** 30, undefined, { signal });
  if (step["die"] === true) engine.downUntilMs = Date.now() + 1500;
  if ("refuse" in step) throw new EngineFailureError("invalid_value");
  if (["fail", "reset", "die"].some((name) => name in step)) throw new EngineFailureError("upstream_error");
}
