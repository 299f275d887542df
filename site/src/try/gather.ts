import { isObject } from "./schema.ts";
import type { Json, JsonObject } from "./schema.ts";

/** A call of a tool, with as much of its arguments as has arrived. */
export interface GatheredCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface GatheredChoice {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly GatheredCall[];
  readonly finish: string | null;
}

export interface Counts {
  readonly prompt: number;
  /** The cached tokens among those of the prompt. */
  readonly cached: number;
  readonly completion: number;
  readonly cost: string;
}

/** As much of an answer as has arrived. */
export interface Gathered {
  readonly model: string;
  readonly choices: readonly GatheredChoice[];
  readonly usage: Counts | undefined;
  /** Events that had a part of an answer. Each of them has at least one token. */
  readonly parts: number;
}

export const nothing: Gathered = { model: "", choices: [], usage: undefined, parts: 0 };

const emptyChoice: GatheredChoice = { text: "", reasoning: "", calls: [], finish: null };
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const number = (value: Json | undefined): number => (typeof value === "number" ? value : 0);

/** Adds a chunk, or a whole completion, to an answer. */
export function gather(answer: Gathered, event: JsonObject): Gathered {
  const choices = [...answer.choices];
  let parts = answer.parts;
  for (const choice of list(event["choices"])) {
    const added = isObject(choice["delta"]) ? choice["delta"] : choice["message"];
    const delta = isObject(added) ? added : {};
    const index = number(choice["index"]);
    while (choices.length <= index) choices.push(emptyChoice);
    const before = choices[index] ?? emptyChoice;
    const after: GatheredChoice = {
      text: before.text + text(delta["content"]),
      reasoning: before.reasoning + text(delta["reasoning"]),
      calls: addCalls(before.calls, list(delta["tool_calls"])),
      finish: typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : before.finish,
    };
    if (after.text !== before.text || after.reasoning !== before.reasoning || after.calls !== before.calls) parts += 1;
    choices[index] = after;
  }
  const usage = isObject(event["usage"]) ? countsOf(event["usage"]) : answer.usage;
  return { model: text(event["model"]) || answer.model, choices, usage, parts };
}

function addCalls(before: readonly GatheredCall[], deltas: readonly JsonObject[]): readonly GatheredCall[] {
  if (deltas.length === 0) return before;
  const calls = [...before];
  for (const [at, delta] of deltas.entries()) {
    const index = typeof delta["index"] === "number" ? delta["index"] : at;
    const old = calls[index] ?? { id: "", name: "", arguments: "" };
    const part = isObject(delta["function"]) ? delta["function"] : {};
    calls[index] = {
      id: text(delta["id"]) || old.id,
      name: text(part["name"]) || old.name,
      arguments: old.arguments + text(part["arguments"]),
    };
  }
  return calls;
}

const cachedOf = (details: JsonObject[string] | undefined): number =>
  isObject(details) ? number(details["cached_tokens"]) : 0;

const countsOf = (usage: JsonObject): Counts => ({
  prompt: number(usage["prompt_tokens"]),
  cached: cachedOf(usage["prompt_tokens_details"]),
  completion: number(usage["completion_tokens"]),
  cost: text(usage["cost_usd"]) || "0",
});
