import { fileURLToPath } from "node:url";
import type { SimulatedEngine } from "../../native/start-engine.ts";

/** A gateway that runs in front of the engine. */
export interface Subject extends AsyncDisposable {
  readonly port: number;
  readonly path: string;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its first process; undefined if there is no gateway in front of the engine. */
  readonly pid: number | undefined;
  /** Time from the start of its process to its first answer. */
  readonly startMs: number | undefined;
}

export interface SubjectKind {
  readonly name: string;
  /** Its name in the tables. */
  readonly title: string;
  /** True if it answers without the engine. */
  readonly isItsOwnEngine?: boolean;
  /** True if it is measured only when it is named. */
  readonly isOnRequest?: boolean;
  /** Returns the reason why it cannot be measured here, or undefined if it can. */
  missing(): string | undefined;
  /** Installs it, for `--install`. */
  install?(): void;
  /** @param folder for its files and its log */
  start(engine: SimulatedEngine, folder: string): Promise<Subject>;
}

/** Name of the model for callers and the engine. */
export const modelName = "vendor/model-1-mini";
export const chatPath = "/v1/chat/completions";
/** Folder of the demonstration model whose tokenizer counts the tokens. */
export const modelFolder = fileURLToPath(new URL("../../../demo-models/model-1-mini", import.meta.url));
