import type { Call } from "./calls.ts";
import type { Outcome } from "./outcome.ts";

/** A call, and the server to make it to. */
export interface Job {
  readonly baseUrl: string;
  readonly key: string;
  readonly call: Call;
}

/** An SDK that is ready for calls. */
export interface Sdk extends AsyncDisposable {
  readonly name: string;
  readonly version: string;
  /** Loads the SDK, unless that is done. */
  readonly ready?: () => Promise<void>;
  /** Undefined: the SDK has nothing for this call. */
  readonly make: (job: Job) => Promise<Outcome | undefined>;
}
