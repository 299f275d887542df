import type { AuditRecord } from "../audit/audit-log.ts";
import type { ManagedState } from "./managed-state.ts";

/** Maximum number of refused attempts of one actor that get entries of their own in a minute. */
export const maxPerMinute = 20;
const minuteMs = 60_000;

/** The attempts of one actor in the present minute. */
interface Attempts {
  readonly minute: number;
  written: number;
  /** The last attempt without an entry, which stands for all of them. */
  counted: AuditRecord | undefined;
}

/**
 * Writes refused attempts into the audit log. An actor that repeats them gets `maxPerMinute` entries a minute. Further attempts
 * are counted, and get one entry together, so a flood of wrong keys cannot fill the disk.
 */
export class RefusedAttempts implements AsyncDisposable {
  readonly #state: Pick<ManagedState, "transact">;
  /** By the id of an admin key or the name of a user. All callers without a valid key share an empty name. */
  readonly #attempts = new Map<string, Attempts>();
  readonly #timer: NodeJS.Timeout;

  /** @param onError is called if an entry for counted attempts cannot be written */
  constructor(state: Pick<ManagedState, "transact">, onError: (error: unknown) => void) {
    this.#state = state;
    this.#timer = setInterval(() => void this.#writeCounted().catch(onError), minuteMs).unref();
  }

  /** Rejects when the entry cannot be written. */
  async note(record: AuditRecord): Promise<void> {
    const actor = record.actor.id ?? record.actor.name;
    const minute = Math.floor(record.atMs / minuteMs);
    const known = this.#attempts.get(actor);
    const isSame = known?.minute === minute;
    if (known && !isSame) await this.#write(known.counted);
    const attempts = known && isSame ? known : { minute, written: 0, counted: undefined };
    this.#attempts.set(actor, attempts);
    if (attempts.written < maxPerMinute) {
      attempts.written += 1;
      await this.#write(record);
    } else attempts.counted = { ...record, attempts: (attempts.counted?.attempts ?? 0) + 1 };
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
