import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";

/** A task of an adapter, sent as one line of JSON. `adapter.schema.json` describes the members. */
export interface Task {
  readonly task: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly call: "create" | "stream";
  readonly model: string;
  readonly messages: readonly { readonly role: "system" | "user" | "assistant"; readonly content: string }[];
  readonly tools?: readonly object[];
  readonly n?: number;
  readonly includeUsage?: boolean;
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly secondCallAfterMs?: number;
  readonly pauseAfterFirstChunkMs?: number;
  readonly abortAfterFirstChunk?: boolean;
}

/** The adapter's answer: only the values that the SDK gave to its caller. */
export interface AdapterAnswer {
  readonly task: string;
  readonly text?: string | null;
  readonly texts?: readonly string[];
  readonly finishReason?: string | null;
  readonly toolCalls?: readonly { readonly id?: string | null; readonly name: string; readonly arguments: string }[];
  readonly usage?: { readonly promptTokens?: number | null; readonly completionTokens?: number | null } | null;
  readonly unknownMembers?: Readonly<Record<string, unknown>> | null;
  readonly error?: SdkError | null;
  readonly aborted?: boolean;
  readonly unsupported?: string;
}

export interface SdkError {
  readonly class: string;
  readonly message?: string | null;
  readonly status?: number | null;
  readonly code?: string | null;
  readonly param?: string | null;
  readonly requestId?: string | null;
  readonly retryable?: boolean | null;
}

/** The result of a task, as the judge sees it. */
export type Outcome =
  | { readonly kind: "answer"; readonly answer: AdapterAnswer }
  /** The time limit passed without an answer. */
  | { readonly kind: "hung" }
  /** The process ended without an answer. `how` has its exit code and its last words. */
  | { readonly kind: "ended"; readonly how: string }
  /** The adapter sent a line that does not fit the schema. */
  | { readonly kind: "invalid"; readonly why: string };

/** Carries out tasks, one at a time. */
export interface Adapter extends AsyncDisposable {
  /**
   * @param task is sent to the adapter
   * @param limit resolves when the adapter has had enough time
   */
  ask(task: Task, limit: Promise<unknown>): Promise<Outcome>;
  /** Everything that the adapter printed besides its answers. */
  readonly log: string;
}

let compiled: { readonly ajv: Ajv2020; readonly validate: ValidateFunction } | undefined;

/** Compiles the schema when the first answer has come. */
function compileSchema(): NonNullable<typeof compiled> {
  const file = new URL("../../adapter.schema.json", import.meta.url);
  const { $defs } = JSON.parse(readFileSync(file, "utf8")) as { readonly $defs: { readonly answer: object } }; // ours
  const ajv = new Ajv2020({ strict: false });
  return (compiled = { ajv, validate: ajv.compile($defs.answer) });
}

/** Reads a line of an adapter. @returns undefined if it is not the answer to this task, for example a line of a log */
export function readAnswer(line: string, task: string): Outcome | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("task" in value) || value.task !== task) return undefined;
  const { ajv, validate } = compiled ?? compileSchema();
  if (!validate(value))
    return { kind: "invalid", why: `its answer does not fit the schema: ${ajv.errorsText(validate.errors)}` };
  return { kind: "answer", answer: value as AdapterAnswer }; // the schema has been checked
}
