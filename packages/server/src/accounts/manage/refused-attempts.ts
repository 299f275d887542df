import type { AuditRecord } from "../audit/audit-log.ts";
import type { ManagedState } from "./managed-state.ts";

/** Maximum number of refused attempts of one kind that get entries of their own in a minute. */
export const maxPerMinute = 20;
const minuteMs = 60_000;

/** The attempts of one kind in the present minute. */
interface Attempts {
  readonly minute: number;
  written: number;
  /** The last attempt without an entry, which stands for all of them. */
  counted: AuditRecord | undefined;
}

/**
 * Writes refused attempts into the audit log. Attempts of one kind get `maxPerMinute` entries a minute. Further ones are
 * counted, and get one entry together, so a flood of wrong keys or tokens cannot fill the disk.
 */
export class RefusedAttempts implements AsyncDisposable {
  readonly #state: Pick<ManagedState, "transact">;
  /** By their kind. */
  readonly #attempts = new Map<string, Attempts>();
  readonly #timer: NodeJS.Timeout;

  /** @param onError is called if an entry for counted attempts cannot be written */
  constructor(state: Pick<ManagedState, "transact">, onError: (error: unknown) => void) {
    this.#state = state;
    this.#timer = setInterval(() => void this.#writeCounted().catch(onError), minuteMs).unref();
  }

  /**
   * Rejects when the entry cannot be written.
   * @param kind attempts of the same kind are counted together. By default it is the id of the admin key or the name of the
   * user, so all callers without a valid admin key share an empty name
   */
  async note(record: AuditRecord, kind = record.actor.id ?? record.actor.name): Promise<void> {
    const minute = Math.floor(record.atMs / minuteMs);
    const known = this.#attempts.get(kind);
    const isSame = known?.minute === minute;
    const attempts = known && isSame ? known : { minute, written: 0, counted: undefined };
    this.#attempts.set(kind, attempts);
    // Everything is counted before the first wait, because attempts come at the same time.
    const isWritten = attempts.written < maxPerMinute;
    if (isWritten) attempts.written += 1;
    else attempts.counted = { ...record, attempts: (attempts.counted?.attempts ?? 0) + 1 };
    if (!isSame) await this.#write(known?.counted);
    if (isWritten) await this.#write(record);
  }

  async #write(record: AuditRecord | undefined): Promise<void> {
    if (record) await this.#state.transact(({ audit }) => audit.append(record));
  }

  async #writeCounted(): Promise<void> {
    const all = [...this.#attempts.values()];
    this.#attempts.clear();
    for (const { counted } of all) await this.#write(counted);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#writeCounted();
  }
}
