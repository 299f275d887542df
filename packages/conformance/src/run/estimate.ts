import { decimalProduct, decimalSum } from "@parley/contract/decimal";
import { Context } from "../judge/context.ts";
import { find } from "../judge/finding.ts";
import { isRecord, parse, textAt, valueAt } from "../judge/read.ts";
import type { Step } from "../judge/check.ts";
import type { RunProfile } from "../profile.ts";
import { modelId, modelObject } from "../requests/listed-model.ts";
import { Answer } from "../wire/answer.ts";
import type { Exchange } from "../wire/exchange.ts";
import type { HttpRequest } from "../wire/http-request.ts";

/** The size of a run of a service that keeps every clause, before it begins. A service that breaks some receives more requests. */
export interface Estimate {
  readonly requests: number;
  /** About, from the length of the bodies. */
  readonly promptTokens: number;
  /** About: a request without a maximum, or with a huge one, counts as a short answer. */
  readonly outputTokens: number;
  /** In US dollars by the prices of the listing; absent if it has none. */
  readonly costUsd?: string;
}

/** Prices per token, and per request, in US dollars as decimal numbers. */
interface Prices {
  readonly prompt: string;
  readonly completion: string;
  readonly request: string;
}

const isPrice = (text: string | undefined): text is string => text !== undefined && /^\d+(\.\d{1,20})?$/.test(text);

/** Reads the prices of the model to judge from the listing; undefined if it has none. */
export function pricesIn(profile: RunProfile, listing: Exchange | undefined): Prices | undefined {
  const answers = new Map(listing ? [["models", [new Answer(listing)]]] : []);
  const found: { pricing?: unknown } = {};
  find(() => {
    found.pricing = modelObject(new Context(profile, answers, new Map()))["pricing"];
    return "";
  });
  const [prompt, completion] = [textAt(found.pricing, "/prompt"), textAt(found.pricing, "/completion")];
  const request = textAt(found.pricing, "/request");
  return isPrice(prompt) && isPrice(completion)
    ? { prompt, completion, request: isPrice(request) ? request : "0" }
    : undefined;
}

/** Counts what the steps send, each built as if every request before it had been answered well. */
export function estimate(steps: readonly Step[], profile: RunProfile, listing: Exchange | undefined): Estimate {
  const answers = new Map<string, readonly Answer[]>(listing ? [["models", [new Answer(listing)]]] : []);
  const isKnown = find(() => modelId(new Context(profile, answers, new Map()))).kind === "kept";
  const built = isKnown ? profile : { ...profile, model: "any" };
  let [requests, promptTokens, outputTokens] = [0, 0, 0];
  for (const step of steps) {
    const sent = requestsOf(step, new Context(built, answers, new Map()));
    requests += sent.length;
    if (step.name === "models") continue;
    for (const request of step.isRefused === true ? [] : sent) {
      promptTokens += promptTokensOf(request);
      outputTokens += maxTokensOf(request);
    }
    if (step.isRefused !== true)
      answers.set(
        step.name,
        sent.map(
          (request, index) =>
            new Answer(completionFor(request, index === 0 ? step.name : `${step.name} #${index + 1}`)),
        ),
      );
  }
  const prices = pricesIn(profile, listing);
  const size = { requests, promptTokens, outputTokens };
  if (profile.isKeyless === true) return { ...size, promptTokens: 0, outputTokens: 0, costUsd: "0" };
  if (!prices) return size;
  const parts = [
    decimalProduct(prices.prompt, promptTokens),
    decimalProduct(prices.completion, outputTokens),
    decimalProduct(prices.request, requests),
  ];
  return { ...size, costUsd: decimalSum(...parts) };
}

const bytesPerToken = 4;

/** Members that a model does not read are not part of the prompt. */
function promptTokensOf({ body }: HttpRequest): number {
  const sent = parse(body ?? "");
  if (!isRecord(sent)) return 0;
  const read = [sent["messages"], sent["tools"], sent["response_format"]];
  return Math.ceil(JSON.stringify(read).length / bytesPerToken);
}

function requestsOf(step: Step, context: Context): readonly HttpRequest[] {
  if (step.coveredBy !== undefined && !context.profile.isExhaustive) return [];
  let sent: readonly HttpRequest[] = [];
  find(() => {
    sent = step.requests(context);
    return "";
  });
  return sent;
}

/** The tokens of an answer to a short question that is not bounded, or hardly. */
const shortAnswerTokens = 64;
const maxCountedTokens = 1024;

function maxTokensOf({ method, body }: HttpRequest): number {
  const sent = parse(body ?? "");
  if (method !== "POST" || !isRecord(sent)) return 0;
  const most = Math.ceil(Number(sent["max_completion_tokens"] ?? sent["max_tokens"] ?? shortAnswerTokens));
  const n = Number(sent["n"] ?? 1);
  return (most > maxCountedTokens ? shortAnswerTokens : most) * n || 0;
}

/** An answer that a service could give, for requests that are built from an earlier answer. */
function completionFor(request: HttpRequest, name: string): Exchange {
  const message = { role: "assistant", content: "Red, green and blue are three colours." };
  const model = valueAt(parse(request.body ?? ""), "/model");
  const usage = { prompt_tokens: 8, completion_tokens: 8, total_tokens: 16 };
  const body = JSON.stringify({ model, choices: [{ index: 0, message, finish_reason: "stop" }], usage });
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const received = [{ atMs: 0, bytes: head + body }];
  return { name, request, startedMs: 0, startedAt: "", received, end: "complete", endedMs: 0, leaks: [] };
}

/** One line for a person who decides whether to start the run. */
export function describeEstimate({ requests, promptTokens, outputTokens, costUsd }: Estimate): string {
  const cost = costUsd === undefined ? "unknown, because no prices are known" : `about ${costUsd} US dollars`;
  return `${requests} requests, about ${promptTokens} prompt tokens and ${outputTokens} output tokens; cost: ${cost}.`;
}
