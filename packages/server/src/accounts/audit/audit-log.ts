/** A change, or a refused attempt at one. It must not contain a secret or its hash. */
export interface AuditRecord {
  readonly atMs: number;
  readonly actor: {
    readonly kind: "admin_key" | "user" | "token" | "unknown";
    /** The id of the admin key. */
    readonly id?: string | undefined;
    /**
     * The name of the admin key, the user of the operating system, or the subject that a refused token claims. It is empty for
     * the kind `unknown`.
     */
    readonly name: string;
  };
  /** The address of the client or the host of the command, and its user agent. */
  readonly from: { readonly address: string; readonly agent: string };
  /** The operation of the admin API, such as `createKey`, or `authenticate` or `authenticateCaller`. */
  readonly action: string;
  readonly target: {
    readonly id?: string | undefined;
    readonly name?: string | undefined;
    readonly groupId?: string | undefined;
  };
  readonly outcome: "done" | "refused";
  /** The reason of a refusal. */
  readonly reason?: string | undefined;
  /** Usually 1. A record that sums up repeated refused attempts has their number. */
  readonly attempts: number;
  /** The target before and after the change, as the admin API shows it. */
  readonly before?: object | undefined;
  readonly after?: object | undefined;
}

/**
 * Returns a text of a stranger as an entry may have it: at most `maxLength` UTF-16 units, without control characters and
 * others that a terminal or a database treats in a special way.
 */
export const cleanText = (text: string, maxLength: number): string =>
  text.slice(0, maxLength).replaceAll(/\p{C}/gu, "\uFFFD");

const maxAgentLength = 256;

/** Maximum length of an address. A proxy may pass on longer texts. */
const maxAddressLength = 64;

/** Returns the source of a request. The user agent is cut after 256 characters. */
export const sourceOf = (address = "", agent = ""): AuditRecord["from"] => ({
  address: cleanText(address, maxAddressLength),
  agent: cleanText(agent, maxAgentLength),
});

export interface AuditEntry extends AuditRecord {
  /** Grows with every entry. */
  readonly id: number;
}

/** Entries that have all of these properties. */
export interface AuditSelection {
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly action?: string | undefined;
  readonly outcome?: AuditRecord["outcome"] | undefined;
  /** The id or the name of an actor. */
  readonly actor?: string | undefined;
  readonly targetId?: string | undefined;
  /** Only entries about one of these groups or their keys, and those of this admin key. */
  readonly within?: { readonly groupIds: readonly string[]; readonly adminKeyId: string } | undefined;
}

/**
 * The log of changes and refused attempts. Its entries are never changed: the database itself refuses an UPDATE, and a DELETE
 * of entries that no recorded pruning covers.
 *
 * A method rejects when the log cannot be reached. `adminStoresContract` in `@parley/server/testing` tests it on any
 * implementation.
 */
export interface AuditLog {
  /**
   * Adds an entry. Must be called in `State.transact`, so that entries have their numbers in the order of their commits.
   * @param prunesBeforeMs the entry records a pruning: from now on, entries before this time can be deleted
   */
  append(record: AuditRecord, prunesBeforeMs?: number): Promise<void>;
  /**
   * Returns selected entries, the newest first.
   * @param limit maximum number of entries
   * @param beforeId only entries with a smaller id
   */
  read(selection: AuditSelection, limit: number, beforeId?: number): Promise<AuditEntry[]>;
  /** Returns the number of entries before a time. */
  countBefore(atMs: number): Promise<number>;
  /** Deletes the entries before a time. Rejects if no entry records such a pruning. */
  deleteBefore(atMs: number): Promise<void>;
}
