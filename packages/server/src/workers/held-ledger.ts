import { setTimeout as wait } from "node:timers/promises";
import type { EngineUsage } from "@parley/inference";
import { noUsage } from "../accounts/ledger/ledger-recorder.ts";
import type {
  Checkpoint,
  CloseRecord,
  LedgerEntry,
  OpenRecord,
  RequestLedger,
} from "../accounts/ledger/usage-ledger.ts";

interface Entry extends Pick<OpenRecord, "keyId" | "groupIds"> {
  usage: EngineUsage;
}

/** Milliseconds between two attempts to close the entries of a dead worker. */
const retryMs = 500;

/** The ledger as one worker writes it. It knows the open entries of the worker, so they can be closed when it dies. */
export class HeldLedger implements RequestLedger {
  readonly #ledger: RequestLedger;
  readonly #entries = new Map<string, Entry>();
  #isOver = false;

  constructor(ledger: RequestLedger) {
    this.#ledger = ledger;
  }

  async open(record: OpenRecord, hold?: Parameters<RequestLedger["open"]>[1]): ReturnType<RequestLedger["open"]> {
    const opened = await this.#ledger.open(record, hold);
    if (opened && "restUsd" in opened) return opened;
    if (this.#isOver) await this.#ledger.withdraw(record.id);
    else this.#entries.set(record.id, { keyId: record.keyId, groupIds: record.groupIds, usage: noUsage });
    return opened;
  }

  async withdraw(id: string): Promise<void> {
    await this.#ledger.withdraw(id);
    this.#entries.delete(id);
  }

  async checkpoint(checkpoints: readonly Checkpoint[]): Promise<void> {
    await this.#ledger.checkpoint(checkpoints);
    for (const { id, usage } of checkpoints) {
      const entry = this.#entries.get(id);
      if (entry) entry.usage = usage;
    }
  }

  async close(record: CloseRecord): Promise<void> {
    await this.#ledger.close(record);
    this.#entries.delete(record.id);
  }

  spentUsd(keyId: string, month?: string): Promise<string> {
    return this.#ledger.spentUsd(keyId, month);
  }

  find(id: string): Promise<LedgerEntry | undefined> {
    return this.#ledger.find(id);
  }

  groupSpentUsd(...[groupId, span]: Parameters<RequestLedger["groupSpentUsd"]>): Promise<string> {
    return this.#ledger.groupSpentUsd(groupId, span);
  }

  assertWritable(): Promise<void> {
    return this.#ledger.assertWritable();
  }

  /**
   * Closes the open entries of the dead worker as abandoned, with the usage of their last checkpoint. Repeats it until the
   * ledger can be written.
   * @param nowMs the time of the end, in milliseconds since 1970
   * @returns the number of entries
   */
  async release(nowMs: number, signal: AbortSignal): Promise<number> {
    this.#isOver = true;
    const left = [...this.#entries];
    for (const [id, { keyId, groupIds, usage }] of left) {
      // The service took the answer away, so nobody pays for it (OPS-17).
      const record = { id, keyId, groupIds, usage, outcome: "abandoned", errorCode: undefined, costUsd: "0" } as const;
      while (!(await this.#tryToClose({ ...record, endedMs: nowMs }))) await wait(retryMs, undefined, { signal });
    }
    return left.length;
  }

  async #tryToClose(record: CloseRecord): Promise<boolean> {
    try {
      await this.close(record);
      return true;
    } catch {
      return false;
    }
  }
}
