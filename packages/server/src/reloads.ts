import type { Actor } from "./accounts/manage/actor.ts";
import { toAuditActor } from "./accounts/manage/actor.ts";
import type { AuditRecord } from "./accounts/audit/audit-log.ts";
import type { ManagedState } from "./accounts/manage/managed-state.ts";
import { ConfigError } from "./config/config-error.ts";
import { compareConfigs, reloadConfig, reloadModels } from "./config/reload.ts";
import type { Config } from "./config/read-config.ts";
import { serverName } from "./models/describe-server.ts";
import type { ServedModel } from "./models/served-model.ts";
import type { ReloadCounts } from "./observe/gauges.ts";
import type { Log } from "./observe/log.ts";

/** The action of the audit log's entries of reloads. */
export const reloadAction = "reloadSettings";

/** A new reading of the settings. */
export interface Reload {
  /** Reads the settings. Throws a `ConfigError` with all of their faults. */
  readonly read: () => Config;
  readonly actor: Actor;
  /** Gives the settings to the parts that serve requests. */
  readonly apply: (config: Config) => void | Promise<void>;
}

interface ReloadsOptions {
  /** The configuration that the server was started with. */
  readonly config: Config;
  readonly log: Log;
  readonly state: Pick<ManagedState, "transact">;
  /** The wall clock, in milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** The settings of a running server, which a reload replaces. Reloads run one after the other. */
export class Reloads implements AsyncDisposable, ReloadCounts {
  readonly #options: ReloadsOptions;
  #config: Config;
  #turn: Promise<void> = Promise.resolve();
  readonly ended = { applied: 0, refused: 0 };
  restartNeeded = 0;
  isLastGood = true;
  lastGoodMs: number;

  constructor(options: ReloadsOptions) {
    this.#options = options;
    this.#config = options.config;
    this.lastGoodMs = options.nowMs();
  }

  /** The settings that the server has, as they were read. */
  get config(): Config {
    return this.#config;
  }

  /** Applies new settings, or logs their fault and changes nothing. Never rejects. */
  reload(reload: Reload): Promise<void> {
    const { log } = this.#options;
    const fail = (error: unknown): void => log.error({ err: error }, "the settings could not be applied");
    return (this.#turn = this.#turn.then(() => this.#reload(reload)).catch(fail));
  }

  async #reload({ read, actor, apply }: Reload): Promise<void> {
    const { log } = this.#options;
    let difference;
    try {
      const next = read();
      difference = compareConfigs(this.#config, next);
      this.#config = reloadConfig(this.#config, next);
    } catch (error) {
      this.ended.refused += 1;
      this.isLastGood = false;
      const faults = error instanceof ConfigError ? error.faults.join("; ") : String(error);
      log.error(`the settings were read again and have faults, so nothing was changed: ${faults}`);
      await this.#record(actor, { outcome: "refused", reason: faults });
      return;
    }
    await apply(this.#config);
    const { before, after, restart } = difference;
    this.ended.applied += 1;
    this.isLastGood = true;
    this.lastGoodMs = this.#options.nowMs();
    this.restartNeeded = restart.length;
    log.info({ before, after }, "the settings were read again");
    if (restart.length > 0)
      log.warn({ settings: restart }, "these settings have changed and need a restart, so they are as before");
    await this.#record(actor, { outcome: "done", before, after: { ...after, needs_restart: restart } });
  }

  async #record(actor: Actor, end: Pick<AuditRecord, "outcome" | "reason" | "before" | "after">): Promise<void> {
    const { state, nowMs, log } = this.#options;
    const record = { atMs: nowMs(), actor: toAuditActor(actor), from: actor.from, action: reloadAction };
    const target = { name: serverName() };
    try {
      await state.transact(({ audit }) => audit.append({ ...record, target, attempts: 1, ...end }));
    } catch (error) {
      log.error({ err: error }, "the audit log has no entry of this reload");
    }
  }

  /** Waits for the running reload. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turn;
  }
}

/** Gives new settings to the parts of this process. */
export function follow({ config, models, log }: Followers, next: Config): void {
  if (config.logLevel !== next.logLevel) log.level = next.logLevel;
  // The bounds on connections, which were fitted to the process at its start, are not reloaded.
  const { maxSockets, socketsPerAddress } = config;
  Object.assign(config, next, { maxSockets, socketsPerAddress });
  models.splice(0, models.length, ...reloadModels(models, next));
}

/** The parts of a process that follow a reload. */
export interface Followers {
  /** The configuration that all parts share. They read the settings that a reload applies at each use. */
  readonly config: Config;
  /** The models that all parts share. A request keeps the model that it has picked, with its prices. */
  readonly models: ServedModel[];
  readonly log: Log;
}
