import type { IncomingMessage, ServerResponse } from "node:http";
import type { Key } from "./keys.ts";
import type { Head } from "./mutant.ts";
import type { World } from "./world.ts";

/** A request of a known caller. */
export interface Call {
  readonly world: World;
  readonly head: Head;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly key: Key;
}
