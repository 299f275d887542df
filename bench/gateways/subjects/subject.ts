import { fileURLToPath } from "node:url";
import type { SimulatedEngine } from "../../native/start-engine.ts";

/** A gateway that runs in front of the engine. */
export interface Subject extends AsyncDisposable {
  readonly port: number;
  readonly path: string;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first of its processes; undefined where nothing stands in front of the engine. */
  readonly pid: number | undefined;
  /** From the start of its process until it answered for the first time. */
  readonly startMs: number | undefined;
}

export interface SubjectKind {
  readonly name: string;
  /** What the tables call it. */
  readonly title: string;
  /** It answers without the engine. */
  readonly isItsOwnEngine?: boolean;
  /** Why it cannot be measured here; undefined: it can. */
  missing(): string | undefined;
  /** What `--install` does for it. */
  install?(): void;
  /** @param folder for its files and its log */
  start(engine: SimulatedEngine, folder: string): Promise<Subject>;
}

/** What callers and the engine call the model. */
export const modelName = "vendor/model-1-mini";
export const chatPath = "/v1/chat/completions";
/** The files of the demonstration model, which its tokens are counted with. */
export const modelFolder = fileURLToPath(new URL("../../../demo-models/model-1-mini", import.meta.url));
