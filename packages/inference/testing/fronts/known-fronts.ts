import type { FrontName } from "../../src/openai/fronts.ts";
import type { RemoteOptions } from "../../src/remote/remote-engine.ts";
import { dataParallel, rayServe } from "./whole-programs.ts";

export const workerKinds = ["stand-in", "vllm"] as const;
export type WorkerKind = (typeof workerKinds)[number];

/** The places of a front that is being started. */
export interface Places {
  readonly port: number;
  readonly metricsPort: number;
  /** The base URLs of its workers. */
  readonly workers: readonly string[];
  /** The name of the model. */
  readonly model: string;
}

/** A program that stands between Parley and the workers. */
export interface FrontProgram {
  /** The package of PyPI, which is installed the first time. Without one, only the variable can name the program. */
  readonly package?: string;
  /** The program in its environment, relative to `bin`. */
  readonly file: string;
  /** An environment that has the program if vLLM was installed for the tests. */
  readonly environment?: string;
  /** The variable that names a program which exists already. */
  readonly variable: string;
  readonly args: (places: Places) => readonly string[];
  /** Arguments with which it takes one request at a time and refuses further ones. Absent: it has none. */
  readonly narrow?: readonly string[];
}

/** A program that starts two vLLM itself, behind one address. */
export interface WholeProgram {
  readonly program: FrontProgram;
  /** Variables that the front needs. */
  readonly environment: Readonly<Record<string, string>>;
  /** Present if the metrics have a port of their own: the time that they are behind, at most. */
  readonly metricsDelayMs?: number;
  /** The lines of the metrics that count the requests that have ended or run. The first group is the name of the worker. */
  readonly counters: RegExp;
  /** True if all of it ends with one worker. It is then started again at once, as an operator's supervisor does. */
  readonly endsWithWorker?: true;
  /** Says whether a process of the program is the one of a worker. */
  readonly isProcess: (process: { readonly pid: number; readonly title: string }, worker: string) => boolean;
}

/** A front that the matrix runs, with all of its policies. */
export interface KnownFront {
  readonly name: string;
  readonly version: string;
  /** The setting `front` of Parley that fits. */
  readonly front: FrontName;
  /** The setting `session_header`, if the one of `front` does not fit. */
  readonly sessionHeader?: string;
  /** `chat`: it does not take prompts of token ids. */
  readonly protocol: "completions" | "chat";
  /** True if it drops `cache_salt`, so its keys share their cached prompts. */
  readonly dropsSalt?: boolean;
  /** The name that it gives to any model. Absent: it lists the names of the workers. */
  readonly onlyModel?: string;
  /** Absent: Parley itself chooses among the addresses of the workers. */
  readonly program?: FrontProgram;
  /** True if its workers are Dynamo's: `dynamo.vllm`, or mockers as stand-ins. */
  readonly hasOwnWorkers?: true;
  /** Present if the two workers are vLLM that one program starts. With a `program`, that one stands before it. */
  readonly whole?: WholeProgram;
  /** Its policies, each with the arguments that choose it. */
  readonly policies: Readonly<Record<string, readonly string[]>>;
  /** The policies that keep conversations on their worker. */
  readonly holding: readonly string[];
  /** True if it starts within seconds, so that CI can run it with the first of these policies. */
  readonly isCheap: boolean;
}

/** The circuit breaker takes 503 for a failure, so full workers get nothing for a minute. A dead one is found in seconds. */
const tunedRust =
  "--disable-circuit-breaker --health-check-interval-secs 2 --health-check-timeout-secs 2 --health-failure-threshold 1".split(
    " ",
  );

/** The settings of the engine of Parley that uses a front. */
export const settingsOf = ({
  front,
  sessionHeader,
  protocol,
  dropsSalt,
  onlyModel,
}: KnownFront): Partial<RemoteOptions> => ({
  front,
  protocol,
  ...(dropsSalt === true && { isSalted: false }),
  ...(sessionHeader !== undefined && { sessionHeader }),
  ...(onlyModel !== undefined && { servedName: onlyModel }),
});

const policiesBy = (flag: string, names: readonly string[]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(names.map((name) => [name, [flag, name]]));

const rustArgs = ({ port, metricsPort, workers }: Places): string[] =>
  `--host 127.0.0.1 --port ${port} --prometheus-port ${metricsPort} --worker-urls ${workers.join(" ")}`.split(" ");
/** A queue of 0 requests refuses at once. */
const narrowRust = ["--max-concurrent-requests", "1", "--queue-size", "0", "--disable-retries"];

const vllmRouterVersion = "0.1.17";
const vllmRouter: FrontProgram = {
  package: `vllm-router==${vllmRouterVersion}`,
  file: "vllm-router",
  variable: "PARLEY_TEST_ROUTER",
  args: rustArgs,
  narrow: narrowRust,
};

/** Dynamo's session affinity, which is off by default. */
const sessions = ["--router-session-affinity-ttl-secs", "300"];

const productionStack = {
  name: "production-stack",
  version: "a6c01db",
  front: "production-stack",
  program: {
    file: "vllm-router",
    variable: "PARLEY_TEST_PRODUCTION_STACK",
    // It never finds out that a static worker is dead. Without another attempt, the sessions of such a worker fail for good.
    args: ({ port, workers, model }: Places) =>
      `--host 127.0.0.1 --port ${port} --service-discovery static --static-backends ${workers.join()} --static-models ${workers.map(() => model).join()} --max-instance-failover-reroute-attempts 1`.split(
        " ",
      ),
  },
  isCheap: false,
} as const;

export const knownFronts: readonly KnownFront[] = [
  {
    name: "parley",
    version: "of this tree",
    front: "generic",
    protocol: "completions",
    policies: { urls: [] },
    holding: ["urls"],
    isCheap: false,
  },
  {
    name: "vllm-router",
    version: vllmRouterVersion,
    front: "vllm-router",
    protocol: "completions",
    program: vllmRouter,
    policies: {
      ...policiesBy("--policy", [
        "consistent_hash",
        "sticky_least_loaded",
        "cache_aware",
        "round_robin",
        "random",
        "power_of_two",
      ]),
      "consistent_hash-tuned": ["--policy", "consistent_hash", ...tunedRust],
    },
    holding: ["consistent_hash-tuned", "consistent_hash", "sticky_least_loaded"],
    isCheap: true,
  },
  {
    name: "sglang-router",
    version: "0.3.2",
    front: "generic",
    sessionHeader: "x-smg-routing-key",
    protocol: "chat",
    dropsSalt: true,
    // It asks its workers for their model by routes that only SGLang has.
    onlyModel: "unknown",
    program: {
      package: "sglang-router==0.3.2",
      file: "sglang-router",
      variable: "PARLEY_TEST_SGLANG_ROUTER",
      args: (places) => ["launch", ...rustArgs(places)],
      narrow: narrowRust,
    },
    policies: {
      ...policiesBy("--policy", ["manual", "cache_aware", "round_robin", "random", "power_of_two"]),
      "manual-tuned": ["--policy", "manual", ...tunedRust],
    },
    holding: ["manual-tuned", "manual"],
    isCheap: true,
  },
  {
    ...productionStack,
    protocol: "completions",
    policies: {
      session: ["--routing-logic", "session", "--session-key", "x-session-id"],
      roundrobin: ["--routing-logic", "roundrobin"],
      prefixaware: ["--routing-logic", "prefixaware"],
    },
    holding: ["session"],
  },
  {
    ...productionStack,
    // On the chat route it gets texts, which its tree can hash.
    protocol: "chat",
    policies: { "prefixaware-chat": ["--routing-logic", "prefixaware"] },
    holding: [],
  },
  {
    name: "dynamo",
    version: "1.6.1",
    front: "dynamo",
    protocol: "completions",
    hasOwnWorkers: true,
    program: {
      file: "python",
      variable: "PARLEY_TEST_DYNAMO",
      args: ({ port }) =>
        `-m dynamo.frontend --http-host 127.0.0.1 --http-port ${port} --discovery-backend file --event-plane zmq`.split(
          " ",
        ),
    },
    policies: {
      "kv-sessions": ["--router-mode", "kv", ...sessions],
      "round-robin-sessions": ["--router-mode", "round-robin", ...sessions],
      ...policiesBy("--router-mode", ["kv", "round-robin", "random"]),
    },
    holding: ["kv-sessions", "round-robin-sessions"],
    isCheap: false,
  },
  {
    name: "vllm-data-parallel",
    version: "0.32.0",
    front: "generic",
    protocol: "completions",
    whole: dataParallel,
    policies: { internal: [] },
    holding: [],
    isCheap: false,
  },
  {
    name: "vllm-router-ranks",
    version: vllmRouterVersion,
    front: "vllm-router",
    protocol: "completions",
    program: vllmRouter,
    whole: dataParallel,
    policies: { consistent_hash: ["--policy", "consistent_hash", "--intra-node-data-parallel-size", "2"] },
    holding: ["consistent_hash"],
    isCheap: false,
  },
  {
    name: "ray",
    version: "2.60.0",
    front: "ray",
    protocol: "completions",
    whole: rayServe,
    policies: {
      ConsistentHashRouter: ["ray.serve.experimental.consistent_hash_router.ConsistentHashRouter"],
      PrefixCacheAffinityRouter: ["ray.serve.llm.request_router.PrefixCacheAffinityRouter"],
      default: [],
    },
    holding: ["ConsistentHashRouter"],
    isCheap: false,
  },
];
