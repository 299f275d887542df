import { setTimeout as wait } from "node:timers/promises";
import { faultsOf } from "../contract/contract.ts";
import type { Step } from "../judge/check.ts";
import { Context } from "../judge/context.ts";
import { find, UntestableError } from "../judge/finding.ts";
import { numberAt, parse, usageOf } from "../judge/read.ts";
import { Answer } from "../wire/answer.ts";
import { pricesIn } from "./estimate.ts";
import type { HttpRequest } from "../wire/http-request.ts";
import { Connection } from "../wire/connection.ts";
import type { Target } from "../wire/connection.ts";
import type { Exchange } from "../wire/exchange.ts";
import { keyRoles } from "../profile.ts";
import type { RunProfile } from "../profile.ts";

/** Everything that a run collected: enough to judge it again without the network. */
export interface Evidence {
  readonly exchanges: readonly Exchange[];
  /** Steps that were not sent, and why. */
  readonly unsent: Readonly<Record<string, string>>;
  /** Steps that were not sent because an exchange covers them, with the name of that exchange. */
  readonly covered: Readonly<Record<string, string>>;
  /** The usage records of the service, by the name of the exchange. */
  readonly records: Readonly<Record<string, unknown>>;
  /** Mistakes in the suite's own requests. */
  readonly faults: readonly string[];
  /** Present if the run ended before every step was sent: the reason. */
  readonly stopped?: string;
}

export interface Collector {
  readonly profile: RunProfile;
  readonly target: Target;
  readonly steps: readonly Step[];
  /** Looks up the usage records of a request. */
  readonly recordOf?: ((requestId: string) => Promise<unknown>) | undefined;
  readonly onExchange?: (exchange: Exchange) => void;
  /** Exchanges that took place before, by the names of their steps. These steps are not sent. */
  readonly given?: ReadonlyMap<string, readonly Exchange[]> | undefined;
  /** In US dollars, by the prices of the listing; undefined: no bound. */
  readonly maxCostUsd?: number | undefined;
}

/** Why a step was not sent after an interrupt. */
export const interrupted = "the run was interrupted";

/** After this number of requests in a row without any answer, the run stops sending: the server is gone. */
const mostSilences = 3;

/** Sends the steps and collects the answers. */
export async function collect(collector: Collector): Promise<Evidence> {
  const run = new Collection(collector);
  const { steps } = collector;
  const done = new Map<Step, Promise<void>>();
  const settled = async (step: Step): Promise<void> => {
    for (const need of step.needs ?? []) await done.get(byName(steps, need));
    await run.perform(step);
  };
  let line = Promise.resolve();
  for (const step of steps.filter(({ when }) => when !== "last")) {
    const work = step.when === "background" ? settled(step) : line.then(() => settled(step));
    done.set(step, work);
    if (step.when !== "background") line = work;
  }
  await Promise.all(done.values());
  for (const step of steps.filter(({ when }) => when === "last")) await run.perform(step);
  await run.lookUpRecords();
  return run.evidence;
}

const byName = (steps: readonly Step[], name: string): Step => {
  const step = steps.find((one) => one.name === name);
  if (!step) throw new Error(`the step "${name}" is needed and not planned`);
  return step;
};

const keyPlaceholder = new RegExp(`\\{(?:key|${keyRoles.join("|")})\\}`);
const holdsKey = ({ target, headers, raw = "" }: HttpRequest): boolean =>
  keyPlaceholder.test([target, raw, ...headers.map(([, value]) => value)].join("\n"));

class Collection {
  readonly #collector: Collector;
  readonly #answers = new Map<string, Answer[]>();
  readonly #unsent = new Map<string, string>();
  readonly #covered = new Map<string, string>();
  readonly #records = new Map<string, unknown>();
  readonly #faults: string[] = [];
  #stopped: string | undefined;
  #silences = 0;
  #costUsd = 0;

  constructor(collector: Collector) {
    this.#collector = collector;
  }

  get evidence(): Evidence {
    return {
      exchanges: [...this.#answers.values()].flat().map(({ exchange }) => exchange),
      unsent: Object.fromEntries(this.#unsent),
      covered: Object.fromEntries(this.#covered),
      records: Object.fromEntries(this.#records),
      faults: this.#faults,
      ...(this.#stopped !== undefined && { stopped: this.#stopped }),
    };
  }

  async perform(step: Step): Promise<void> {
    const covering = this.#coveredBy(step);
    if (covering !== undefined) return void this.#covered.set(step.name, covering);
    const reason = this.#whyStop();
    const requests = reason === undefined ? this.#build(step) : reason;
    if (typeof requests === "string") {
      this.#unsent.set(step.name, requests);
      return;
    }
    const given = this.#collector.given?.get(step.name);
    const exchanges = given ? given.map((one) => this.#note(one)) : await this.#send(step, requests);
    if (exchanges.some(({ end }) => end === "aborted"))
      return void this.#unsent.set(step.name, this.#whyStop() ?? "the run was ended");
    this.#answers.set(
      step.name,
      exchanges.map((exchange) => new Answer(exchange)),
    );
  }

  /** Looks up the usage records of the steps that need them, after the service has had time to write them. */
  async lookUpRecords(): Promise<void> {
    const { recordOf, steps } = this.#collector;
    const answers = steps.flatMap(({ name, isRecorded }) => (isRecorded ? (this.#answers.get(name) ?? []) : []));
    const { signal } = this.#collector.target;
    if (!recordOf || answers.length === 0) return;
    await wait(1500, undefined, { signal }).catch(() => undefined);
    for (const answer of signal.aborted ? [] : answers) {
      const id = answer.header("x-request-id");
      if (id !== undefined) this.#records.set(answer.name, await recordOf(id));
    }
  }

  /** Once there is a reason to stop, it stays. */
  #whyStop(): string | undefined {
    const { target, maxCostUsd } = this.#collector;
    const { aborted, reason } = target.signal;
    if (aborted) this.#stopped ??= typeof reason === "string" ? reason : "the time budget of the run was spent";
    if (this.#silences >= mostSilences) this.#stopped ??= "the server had stopped answering";
    if (maxCostUsd !== undefined && this.#costUsd >= maxCostUsd) this.#stopped ??= "the bound on the cost was reached";
    return this.#stopped;
  }

  get #context(): Context {
    return new Context(this.#collector.profile, this.#answers, this.#unsent, this.#covered);
  }

  #coveredBy({ coveredBy }: Step): string | undefined {
    if (coveredBy === undefined || this.#collector.profile.isExhaustive) return undefined;
    const found = find(() => coveredBy(this.#context));
    return found.kind === "kept" ? found.seen : undefined;
  }

  #build(step: Step): readonly HttpRequest[] | string {
    const context = this.#context;
    try {
      const requests = step.requests(context);
      if (context.profile.isKeyless === true && requests.some(holdsKey))
        return "a run of the tier keyless sends no key";
      if (step.isValid === true) this.#validate(step, requests);
      return requests;
    } catch (error) {
      if (error instanceof UntestableError) return error.message;
      throw error;
    }
  }

  #validate({ name }: Step, requests: readonly HttpRequest[]): void {
    for (const request of requests) {
      const [fault] = faultsOf("ChatCompletionRequest", parse(request.body ?? ""));
      if (fault !== undefined) this.#faults.push(`"${name}" sends what the contract does not allow: ${fault}`);
    }
  }

  async #send({ name, how }: Step, requests: readonly HttpRequest[]): Promise<Exchange[]> {
    const { target } = this.#collector;
    const titled = requests.map((request, index) => [index === 0 ? name : `${name} #${index + 1}`, request] as const);
    const alone = async ([title, request]: (typeof titled)[number]): Promise<Exchange> => {
      using connection = new Connection(target);
      return this.#note(await connection.exchange(title, request));
    };
    if (how === "side by side") return Promise.all(titled.map(alone));
    const exchanges: Exchange[] = [];
    using shared = new Connection(target);
    for (const one of titled) {
      const reason = this.#whyStop();
      if (reason !== undefined) break;
      exchanges.push(how === "on one connection" ? this.#note(await shared.exchange(...one)) : await alone(one));
    }
    return exchanges;
  }

  #note(exchange: Exchange): Exchange {
    const isSilent =
      exchange.received.length === 0 && exchange.end !== "disconnected" && exchange.request.behaviour === undefined;
    this.#silences = isSilent ? this.#silences + 1 : 0;
    if (this.#collector.maxCostUsd !== undefined) this.#costUsd += this.#costOf(exchange);
    this.#collector.onExchange?.(exchange);
    return exchange;
  }

  #costOf(exchange: Exchange): number {
    const usage = usageOf(new Answer(exchange));
    const count = (name: string): number => numberAt(usage, `/${name}`) || 0;
    const prices = pricesIn(this.#collector.profile, this.#answers.get("models")?.[0]?.exchange);
    if (!prices) return 0;
    const [prompt, completion] = [count("prompt_tokens"), count("completion_tokens")];
    const request = prompt === 0 ? 0 : Number(prices.request);
    return prompt * Number(prices.prompt) + completion * Number(prices.completion) + request;
  }
}
