import { EngineError } from "../engine.ts";
import type { EndpointAttempt, Sampling } from "../engine.ts";
import { openModel } from "../model-folder/open-model.ts";
import type { OpenModel } from "../model-folder/open-model.ts";
import { ChatAdapter } from "../openai/chat/chat-adapter.ts";
import { completionsAdapter } from "../openai/completions/completions-adapter.ts";
import { cacheSalter } from "../openai/cache-salt.ts";
import { OpenAiEngine } from "../openai/openai-engine.ts";
import { readMetadata } from "../openai/read-metadata.ts";
import type { SupervisorReport } from "../supervision/supervised.ts";
import type { Timings } from "../supervision/timings.ts";
import { Connection } from "../wire/connection.ts";
import { RefusedAnswerError } from "../wire/refused-answer.ts";
import { Endpoint } from "./endpoint.ts";
import type { EndpointOptions } from "./endpoint.ts";
import { fronts, sessionNamer } from "../openai/fronts.ts";
import type { Front, FrontName } from "../openai/fronts.ts";
import { EndpointPool } from "./endpoint-pool.ts";
import { HealthMonitor } from "./health-monitor.ts";
import { lookupAll } from "./resolve-endpoints.ts";
import type { Lookup } from "./resolve-endpoints.ts";

/**
 * `completions` sends token ids to `/v1/completions` of vLLM. `chat` sends messages, for a service that has only a chat route.
 */
export type RemoteProtocol = "completions" | "chat";

export interface RemoteOptions {
  /** The model id, for messages. */
  readonly name: string;
  /** The name that the endpoints give the model. */
  readonly servedName: string;
  /** The endpoints that serve it, without `/v1`. */
  readonly baseUrls: readonly string[];
  /** Folder with the model's tokenizer and chat template. */
  readonly tokenizerFolder: string;
  /** Headers of every request. `{key}`, `{user}`, `{session}`, `{metadata.NAME}` and others are replaced by values of the caller. */
  readonly headers: Readonly<Record<string, string>>;
  /** The service between Parley and the engines. Absent: `generic`, which gets no headers but the given ones. */
  readonly front?: FrontName | undefined;
  /** The header for the session id, in place of the front's. */
  readonly sessionHeader?: string | undefined;
  /** The member of `metadata` that names a conversation. Absent: `session`. */
  readonly sessionMember?: string | undefined;
  readonly bearer: string | undefined;
  readonly caFile: string | undefined;
  readonly proxyUrl: string | undefined;
  /** Absent: the resolver of the operating system. */
  readonly lookup?: Lookup | undefined;
  /** The context length in tokens; absent: the length that the engine declares. */
  readonly contextLength?: number | undefined;
  /** The maximum number of choices to generate at the same time. */
  readonly slots: number;
  /** Absent: `completions`. */
  readonly protocol?: RemoteProtocol | undefined;
  /** True to send a `cache_salt`. Absent: it is sent, except to a service that has only a chat route and is not vLLM. */
  readonly isSalted?: boolean | undefined;
  /** Keeps the cached prompts of keys apart. */
  readonly cacheSecret: Uint8Array;
  readonly sampling: Omit<Sampling, "logit_bias">;
  /** The prompt line that shows the model a schema; undefined: schemas are not shown. */
  readonly schemaPrompt?: string | undefined;
  readonly timings: Timings;
  readonly report: (event: SupervisorReport) => void;
  /** Receives the end of every generation that an endpoint was asked for, those of probes included. */
  readonly onAttempt?: ((attempt: EndpointAttempt) => void) | undefined;
}

/** A model that others serve, on one machine or on many behind a router. */
export function startRemoteEngine(options: RemoteOptions): OpenAiEngine {
  const { name, servedName, timings } = options;
  const front: Front = fronts[options.front ?? "generic"];
  const endpoint = endpointOptions(front, options);
  const upstream = new EndpointPool({
    baseUrls: options.baseUrls,
    openEndpoint: (baseUrl, address) => new Endpoint(connect(baseUrl, address, options), endpoint),
    needsConversation: endpoint.sessionOf !== undefined,
    lookup: options.proxyUrl === undefined ? (options.lookup ?? lookupAll) : undefined,
  });
  let opened: OpenModel | undefined;
  const open = async (): Promise<OpenModel> => (opened ??= await openModel(options.tokenizerFolder));
  const saltOf = options.isSalted === false ? undefined : cacheSalter(options.cacheSecret);
  const adapter = options.protocol === "chat" ? new ChatAdapter(options.isSalted === true) : completionsAdapter;
  const monitor = new HealthMonitor({
    name,
    checkEveryMs: timings.watchEveryMs,
    timeoutMs: timings.startSilenceMs,
    probeReadiness: async (signal) => {
      await upstream.resolveNames(signal);
      upstream.reinstateAll();
      const model = await open();
      const metadata = await readMetadata(upstream, { ...options, model }, signal);
      try {
        return await adapter.probeReadiness({ model, servedName, upstream, saltOf, front }, metadata, signal);
      } catch (error) {
        throw adapter === completionsAdapter ? await explainRefusal(upstream, servedName, front, error, signal) : error;
      }
    },
    checkHealth: (signal) => upstream.checkHealth(signal),
    failureReason: () => upstream.failureReason,
    report: options.report,
  });
  monitor.start();
  return new OpenAiEngine({ servedName, upstream, saltOf, front, adapter, model: () => opened, lifecycle: monitor });
}

/**
 * Asks with a prompt of text, to tell a front that refuses token ids from one that fails.
 * @returns the error of the probe, or one that says which setting would work
 */
async function explainRefusal(
  upstream: EndpointPool,
  servedName: string,
  front: Front,
  error: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof EngineError && error.cause instanceof RefusedAnswerError)) return error;
  upstream.reinstateAll();
  const body = JSON.stringify({ model: servedName, prompt: "Hello", max_tokens: 1 });
  const takesText = await upstream.read("/v1/completions", signal, body).then(
    () => true,
    () => false,
  );
  if (!takesText) return error;
  const advice = front.sessionHeader === undefined ? "use another front" : front.advice;
  const why = `it refuses prompts of token ids: set protocol: chat, or ${advice}`;
  return new EngineError("rejected", why, { cause: error.cause });
}

function endpointOptions(front: Front, options: RemoteOptions): EndpointOptions {
  const { headers: own, sessionHeader = front.sessionHeader, sessionMember = "session", cacheSecret } = options;
  const ownNames = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const standard = Object.entries(front.headers).filter(([name]) => !ownNames.has(name));
  const session = sessionHeader === undefined ? {} : { [sessionHeader]: "{session}" };
  const headers = { ...session, ...Object.fromEntries(standard), ...own };
  const isSession = Object.values(headers).some((template) => template.includes("{session}"));
  const sessionOf = isSession ? sessionNamer(cacheSecret, sessionMember) : undefined;
  const hasSeveralEngines = sessionHeader !== undefined;
  return { headers, busy: front.busy, sessionOf, hasSeveralEngines, onAttempt: options.onAttempt };
}

function connect(
  baseUrl: string,
  address: string | undefined,
  { bearer, caFile, proxyUrl, timings }: RemoteOptions,
): Connection {
  return new Connection({
    baseUrl: baseUrl.replace(/\/+$/, "").replace(/\/v1$/, ""),
    headers: { ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
    ...(address !== undefined && { address }),
    ...(caFile !== undefined && { caFile }),
    ...(proxyUrl !== undefined && { proxyUrl }),
    silenceMs: timings.stallMs,
  });
}
