import { existsSync } from "node:fs";
import { setImmediate as nextRound, setTimeout as wait } from "node:timers/promises";
import type { EngineCore } from "../../child/serve.ts";
import { RequestRefusedError } from "../../request-refused.ts";
import type { ResponseWriter } from "../../child/response-writer.ts";
import { Progress } from "../../child/progress.ts";
import type { ChoiceEvent, EngineEvent, Generation, EngineUsage, PromptRequest } from "../../engine.ts";
import { addToSystemMessage } from "../../prompt/show-schema.ts";
import { toTemplateMessages } from "../../prompt/template-messages.ts";
import type { Script, ScriptStep } from "../script.ts";
import { reply } from "./reply.ts";
import type { ReplyStep } from "./reply.ts";
import { tokenOf } from "./words.ts";

/** The prompt of an engine that only counts it and looks for the name of a scenario. */
export interface ScriptedPrompt {
  readonly tokens: number;
  readonly lastUserText: string;
}

/** An engine that plays a script instead of running a model. */
export function scriptedCore(script: Script): EngineCore<ScriptedPrompt> {
  const progress = new Progress();
  let running = 0;
  return {
    prepare: async (request) => {
      const tokens = countPrompt(request);
      return { tokens, prompt: { tokens, lastUserText: lastUserText(request) } };
    },
    status: () => ({ running, waiting: 0, computing: progress.computing, progress: progress.tokens }),
    generate: async function* (prompt, request, signal, writer) {
      running += request.n;
      try {
        const play = { count: usageCounter(prompt.tokens), request, signal, writer, progress };
        for (const step of stepsFor(script, request, prompt.lastUserText)) {
          for await (const events of perform(step, play)) {
            yield events;
            // Generations take turns, token by token. Otherwise one that is read as fast as it is written would block the
            // others.
            await nextRound();
          }
        }
      } finally {
        running -= request.n;
      }
    },
  };
}

/** State shared by the steps of one generation. */
interface Play {
  readonly count: (tokens: number, isReasoning: boolean) => EngineUsage;
  readonly request: Generation;
  readonly signal: AbortSignal;
  readonly writer: ResponseWriter;
  readonly progress: Progress;
}

async function* perform(step: ReplyStep, play: Play): AsyncGenerator<readonly EngineEvent[]> {
  if ("repeat" in step) {
    for (let turn = 0; turn < step.repeat && !play.signal.aborted; turn += 1) {
      for (const inner of step.steps) yield* perform(inner, play);
    }
    return;
  }
  const event = eventOf(step, play.request);
  if (event) yield [{ kind: "usage", usage: play.count(tokensOf(step, event), event.kind === "reasoning") }, event];
  else await performFault(step, play);
}

function eventOf(step: ReplyStep, { topLogprobs }: Generation): ChoiceEvent | undefined {
  const { choice = 0 } = step;
  if ("role" in step) return { kind: "role", choice };
  if ("text" in step) {
    return { kind: "text", choice, text: step.text, tokens: step.outputTokens ?? [tokenOf(step.text, topLogprobs)] };
  }
  if ("reasoning" in step) return { kind: "reasoning", choice, text: step.reasoning };
  if ("tool" in step) return { kind: "tool", choice, ...step.tool };
  if ("finish" in step) return { kind: "finish", choice, reason: step.finish };
  return undefined;
}

/** Returns the number of tokens that a script gives for a step. The default is 1 for an event that adds to the answer. */
const tokensOf = ({ tokens }: ReplyStep, { kind }: ChoiceEvent): number =>
  tokens ?? (kind === "role" || kind === "finish" ? 0 : 1);

const forEver = (signal: AbortSignal): Promise<void> => wait(2 ** 31 - 1, undefined, { signal });

/** Milliseconds between two looks for the file of `wait_for`. */
const lookEveryMs = 20;

/** Performs a step that is not an event. */
async function performFault(step: ScriptStep, { signal, writer, progress }: Play): Promise<void> {
  if ("wait_ms" in step) await wait(step.wait_ms, undefined, { signal });
  if ("wait_for" in step) while (!existsSync(step.wait_for)) await wait(lookEveryMs, undefined, { signal });
  if ("stall" in step) await forEver(signal);
  if ("spin" in step) await progress.measure(0, () => forEver(signal));
  if ("freeze" in step) process.kill(process.pid, "SIGSTOP");
  if ("die" in step) process.kill(process.pid, "SIGKILL");
  if ("crash" in step) void Promise.reject(new Error(step.crash));
  if ("reset" in step) writer.reset();
  if ("fail" in step) throw new Error(step.fail);
  if ("refuse" in step) throw new RequestRefusedError(step.refuse);
  if ("raw" in step) await writer.write(step.raw);
  if ("split" in step) writer.split();
}

function* stepsFor(script: Script, request: Generation, text: string): Generator<ReplyStep> {
  const name = text.startsWith("script:") ? text.slice("script:".length) : "default";
  const steps = Object.hasOwn(script.scenarios, name) ? script.scenarios[name] : undefined;
  if (steps) return yield* steps;
  if (name !== "default") throw new RequestRefusedError(`the script has no scenario "${name}"`);
  for (let choice = 0; choice < request.n; choice += 1) yield* reply(request, text, choice);
}

const lastUserText = (request: PromptRequest): string =>
  toTemplateMessages(request.messages, "in front").findLast((message) => message.role === "user")?.content ?? "";

/** Counts a prompt: one token per four bytes, and four more tokens per message. */
function countPrompt(request: PromptRequest): number {
  const messages = addToSystemMessage(toTemplateMessages(request.messages, "in front"), request.shownSchema);
  return messages.reduce(
    (sum, message) => sum + 4 + Math.ceil(Buffer.byteLength(JSON.stringify(message.content)) / 4),
    3,
  );
}

/**
 * Counts the tokens of a script in one sum. `sumUsage` cannot be used, because a script may name choices that the request does
 * not have.
 */
function usageCounter(promptTokens: number): Play["count"] {
  let completion = 0;
  let reasoning = 0;
  return (tokens, isReasoning) => {
    completion += tokens;
    reasoning += isReasoning ? tokens : 0;
    return {
      promptTokens,
      cachedTokens: 0,
      completionTokens: completion,
      reasoningTokens: reasoning,
    };
  };
}
