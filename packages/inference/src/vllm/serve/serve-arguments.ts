/** The options of `vllm serve`. Undefined fields use vLLM's default. */
export interface ServeOptions {
  readonly weights: string;
  readonly servedName: string;
  /** A unix socket, or a port of the loopback interface. */
  readonly listen: { readonly socket: string } | { readonly port: number };
  readonly contextLength: number | undefined;
  readonly slots: number;
  /** Maximum number of requests in vLLM, waiting and running. It refuses further ones with 503. */
  readonly maxRequests: number;
  readonly isCpu: boolean;
  readonly kvMemoryMb: number | undefined;
  readonly gpuMemoryShare: number | undefined;
  readonly tensorParallel: number | undefined;
  readonly dtype: string;
  /** The maximum time, in seconds, for running streams after SIGTERM. */
  readonly shutdownSeconds: number;
  /** Arguments that the operator adds. */
  readonly extra: readonly string[];
}

/** A flag of `vllm serve`, with the first version that knows it: an unknown one stops vLLM from starting. */
interface Flag {
  readonly name: string;
  readonly since: Version;
  /** Undefined or false: the flag is omitted. True: the flag has no value. */
  readonly value: (options: ServeOptions) => string | number | boolean | undefined;
}

export type Version = readonly [major: number, minor: number];

const always = [0, 9] as const;

/**
 * Sequences beyond the slots, for keys that have none while all slots are taken. They take no memory while they are not used.
 */
export const spareSlots = 1;

/**
 * All flags that can be passed. Reasons of the surprising ones:
 * - `--generation-config vllm`: otherwise the sampling defaults of the weights apply silently.
 * - `--structured-outputs-config`: when vLLM chooses the backend, the same request is constrained differently from schema to
 * schema.
 * - `--shutdown-timeout`: without it SIGTERM aborts running streams.
 * - On a CPU: eager, because compiling needs a compiler; a fixed memory size, because vLLM otherwise takes 92 % of the
 * machine's; prompts in one piece, because 0.32.0 crashes on a seeded request whose prompt is read in pieces ("CPU
 *   Generator does not use offset").
 */
const flags: readonly Flag[] = [
  { name: "--uds", since: [0, 11], value: ({ listen }) => ("socket" in listen ? listen.socket : undefined) },
  { name: "--host", since: always, value: ({ listen }) => ("port" in listen ? "127.0.0.1" : undefined) },
  { name: "--port", since: always, value: ({ listen }) => ("port" in listen ? listen.port : undefined) },
  { name: "--served-model-name", since: always, value: ({ servedName }) => servedName },
  { name: "--dtype", since: always, value: ({ dtype }) => dtype },
  { name: "--max-model-len", since: always, value: ({ contextLength }) => contextLength },
  { name: "--generation-config", since: always, value: () => "vllm" },
  { name: "--max-num-seqs", since: always, value: ({ slots }) => slots + spareSlots },
  { name: "--max-num-queued-reqs", since: [0, 32], value: ({ maxRequests }) => maxRequests },
  { name: "--max-logprobs", since: always, value: () => "20" },
  { name: "--shutdown-timeout", since: [0, 16], value: ({ shutdownSeconds }) => shutdownSeconds },
  { name: "--enable-prompt-tokens-details", since: always, value: () => true },
  { name: "--disable-uvicorn-access-log", since: always, value: () => true },
  { name: "--structured-outputs-config", since: [0, 12], value: () => '{"backend":"xgrammar"}' },
  { name: "--gpu-memory-utilization", since: always, value: ({ gpuMemoryShare }) => gpuMemoryShare },
  { name: "--tensor-parallel-size", since: always, value: ({ tensorParallel }) => tensorParallel },
  {
    name: "--kv-cache-memory-bytes",
    since: [0, 11],
    value: ({ kvMemoryMb }) => kvMemoryMb !== undefined && `${kvMemoryMb}M`,
  },
  { name: "--enforce-eager", since: always, value: ({ isCpu }) => isCpu },
  { name: "--no-enable-chunked-prefill", since: always, value: ({ isCpu }) => isCpu },
  {
    name: "--max-num-batched-tokens",
    since: always,
    value: ({ isCpu, contextLength }) => isCpu && (contextLength ?? 32_768),
  },
];

/** Returns the arguments of `vllm` for a version. */
export function serveArguments(options: ServeOptions, version: Version): string[] {
  const known = flags.filter(({ since }) => isAtLeast(version, since));
  const given = known.flatMap(({ name, value }) => {
    const given = value(options);
    if (given === undefined || given === false) return [];
    return given === true ? [name] : [name, String(given)];
  });
  return ["serve", options.weights, ...given, ...options.extra];
}

/** The oldest version that has everything that the dialect needs: structural tags by token, and ids in every event. */
export const oldestVersion: Version = [0, 20];

export const isAtLeast = ([major, minor]: Version, [leastMajor, leastMinor]: Version): boolean =>
  major > leastMajor || (major === leastMajor && minor >= leastMinor);

/** Returns the numbers of a version such as `0.32.0+cpu`, or undefined for other texts. */
export function parseVersion(text: string): Version | undefined {
  const match = /^(\d+)\.(\d+)/.exec(text);
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}
