/** The facts of a server that other servers compare with their own. The same facts have the same JSON. */
export interface ServerFacts {
  /**
   * Values by subject, then by member. The subject is a model id, or "" for the whole server. Callers notice if two servers
   * have different values. A value that is not known yet is absent.
   */
  readonly offers: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Identities of the engines to which other servers may send requests, too, by model id. */
  readonly engines: Readonly<Record<string, readonly string[]>>;
}

/** A live server of the register. */
export interface RegisteredServer {
  readonly id: string;
  /** A name for the operator, such as `host-1 (process 4711)`. */
  readonly name: string;
  /** The version of its contract, such as `1.2.0`. */
  readonly version: string;
  readonly startedMs: number;
  readonly facts: ServerFacts;
}

/** The data of this server that the register does not know by itself. */
export interface ServerEntry {
  readonly name: string;
  readonly version: string;
  /** Is called at each renewal. */
  readonly facts: () => ServerFacts;
}

/**
 * The register of the live servers that share a state. Each server enters it once, and renews its entry with its lease. A
 * server that ends leaves at once; one that dies is removed when its lease has expired.
 */
export interface ServerRegister {
  /** The id of this server. */
  readonly ownId: string;
  /**
   * The live servers with this one, oldest first, so the index of a server is its rank. All servers see the same order.
   * Empty before the register was read for the first time. While the store is away, the last known servers stay.
   */
  readonly live: readonly RegisteredServer[];
  /** Enters this server, and reads the register now and at each renewal. Never rejects: a failure is repeated. */
  enter(entry: ServerEntry): Promise<void>;
  /** Calls a function after each time the register was read. */
  onRead(listener: () => void): void;
}
