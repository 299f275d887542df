import { RequestSchemas, compileGrammars, neutralSampling } from "../src/index.ts";
import { compileWanted } from "../src/schemas/compile-wanted.ts";
import { streamAtOnce } from "../src/probe.ts";
import type { ConstrainedRequest } from "../src/probe.ts";
import type {
  Engine,
  ChoiceEvent,
  EngineEvent,
  EngineRequest,
  EngineUsage,
  FinishReason,
  Sampling,
  OutputToken,
} from "../src/index.ts";

/** Neutral sampling. */
export const neutral: Sampling = { ...neutralSampling, logit_bias: {} };

/** The members of a request that matter to a test. A string stands for one user message. */
export type Ask = Partial<Omit<ConstrainedRequest, "sampling" | "grammars">> & {
  readonly say?: string;
  readonly sampling?: Partial<Sampling>;
};

/** Returns a complete request. Defaults: greedy, 24 tokens, no tools and no format. */
export function requestFor({ say = "What is a blockchain?", sampling, ...members }: Ask): ConstrainedRequest {
  const request = {
    messages: [{ role: "user", content: say }],
    tools: [],
    toolChoice: "none",
    parallelToolCalls: true,
    format: { type: "text" },
    shownSchema: undefined,
    isReasoning: false,
    maxTokens: 24,
    n: 1,
    seed: "1",
    sampling: { ...neutral, temperature: 0, ...sampling },
    stop: [],
    topLogprobs: undefined,
    ...members,
  } satisfies Omit<ConstrainedRequest, "grammars">;
  return { ...request, grammars: compileGrammars(request, new RequestSchemas(compileWanted)) };
}

/** One choice, assembled from its events. */
export interface Gathered {
  text: string;
  reasoning: string;
  readonly tokens: OutputToken[];
  readonly calls: { readonly name: string; arguments: string }[];
  finish: FinishReason | undefined;
}

export interface Answered {
  readonly choices: readonly Gathered[];
  readonly usage: EngineUsage;
  readonly events: readonly EngineEvent[];
}

const patienceMs = 30_000;

/** Yields the events of an answer one by one. */
export async function* oneByOne<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}

/** Prepares a request and streams its answer at once. */
export const stream = (
  engine: Engine,
  request: ConstrainedRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly EngineEvent[]> => streamAtOnce((asked) => engine.prepare(asked, signal), request);

/** Returns the number of tokens of a prompt. */
export const countTokens = async (engine: Engine, request: EngineRequest, signal: AbortSignal): Promise<number> =>
  (await engine.prepare(request, signal)).tokens;

export const isOfChoice = (event: EngineEvent): event is ChoiceEvent => event.kind !== "usage";

/** Returns the last usage among events, or undefined. */
export function lastUsage(events: readonly EngineEvent[]): EngineUsage | undefined {
  const last = events.findLast((event) => event.kind === "usage");
  return last?.usage;
}

/** Sends a request and resolves with the whole answer. */
export async function ask(engine: Engine, members: Ask, signal?: AbortSignal): Promise<Answered> {
  const request = requestFor(members);
  const events: EngineEvent[] = [];
  for await (const batch of stream(engine, request, signal ?? AbortSignal.timeout(patienceMs))) events.push(...batch);
  return put(events, request.n);
}

/** Returns the first choice of an answer. */
export async function askOne(
  engine: Engine,
  members: Ask,
  signal?: AbortSignal,
): Promise<Gathered & { readonly usage: EngineUsage }> {
  const { choices, usage } = await ask(engine, members, signal);
  const [first] = choices;
  if (!first) throw new Error("the answer has no choice");
  return { ...first, usage };
}

function put(events: readonly EngineEvent[], n: number): Answered {
  const choices = Array.from({ length: n }, (): Gathered => ({
    text: "",
    reasoning: "",
    tokens: [],
    calls: [],
    finish: undefined,
  }));
  for (const event of events.filter(isOfChoice)) {
    const choice = choices[event.choice];
    if (!choice) throw new Error(`there is no choice ${event.choice}`);
    if (event.kind === "text") {
      choice.text += event.text;
      choice.tokens.push(...event.tokens);
    }
    if (event.kind === "reasoning") choice.reasoning += event.text;
    if (event.kind === "finish") choice.finish = event.reason;
    if (event.kind === "tool") {
      const call = (choice.calls[event.index] ??= { name: event.name ?? "", arguments: "" });
      call.arguments += event.arguments;
    }
  }
  const usage = lastUsage(events);
  if (!usage) throw new Error("the engine said nothing");
  return { choices, usage, events };
}

/** Returns the text that the tokens spell together. */
export const spell = (tokens: readonly OutputToken[]): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(tokens.flatMap((token) => [...token.bytes])));
