import type { ServerCounts } from "../../observe/gauges.ts";
import type { Log } from "../../observe/log.ts";
import type { RegisteredServer, ServerFacts, ServerRegister } from "./server-register.ts";

/** A member that two servers offer differently. */
export interface Difference {
  /** A model id; undefined for the whole server. */
  readonly model: string | undefined;
  /** Such as `pricing.prompt`; `model` if only one of the servers has the model. */
  readonly member: string;
  readonly own: string;
  readonly other: string;
}

/** Returns the members that two servers offer differently. A value that one of them does not know yet is skipped. */
export function compareOffers(own: ServerFacts, other: ServerFacts): Difference[] {
  const subjects = [...new Set([...Object.keys(own.offers), ...Object.keys(other.offers)])];
  return subjects.flatMap((subject): Difference[] => {
    const model = subject === "" ? undefined : subject;
    const [ours, theirs] = [own.offers[subject], other.offers[subject]];
    if (!ours) return [{ model, member: "model", own: "not offered", other: "offered" }];
    if (!theirs) return [{ model, member: "model", own: "offered", other: "not offered" }];
    return Object.entries(ours).flatMap(([member, value]) => {
      const counterpart = theirs[member];
      return counterpart === undefined || counterpart === value
        ? []
        : [{ model, member, own: value, other: counterpart }];
    });
  });
}

/** Describes a difference for the operator. */
export const describeDifference = ({ model, member, own, other }: Difference): string =>
  `${model === undefined ? "" : `${model} `}${member}: ${own} here, ${other} there`;

/** Counts the live servers, and those that differ from this one. It logs differences, once per change. */
export function watchServers(register: ServerRegister | undefined, log: Log): ServerCounts {
  return register ? new ServerWatch(register, log) : { live: 1, differing: 0 };
}

class ServerWatch implements ServerCounts {
  readonly #log: Log;
  readonly #register: ServerRegister;
  /** The differences that were logged, as JSON, by the id of the other server. */
  #logged = new Map<string, string>();

  constructor(register: ServerRegister, log: Log) {
    this.#log = log;
    this.#register = register;
    this.#look(register);
    register.onRead(() => this.#look(register));
  }

  get live(): number {
    return this.#register.live.length;
  }

  get differing(): number {
    return this.#logged.size;
  }

  #look({ live, ownId }: ServerRegister): void {
    const own = live.find(({ id }) => id === ownId);
    if (!own) return;
    const before = this.#logged;
    this.#logged = new Map();
    for (const server of live) {
      const differences = compareOffers(own.facts, server.facts);
      if (differences.length === 0) continue;
      const text = JSON.stringify(differences);
      this.#logged.set(server.id, text);
      if (before.get(server.id) !== text) this.#warn(server, differences);
    }
    if (before.size > 0 && this.#logged.size === 0) this.#log.info("all servers have the same prices and limits again");
  }

  #warn({ name, version }: RegisteredServer, differences: readonly Difference[]): void {
    const [first] = differences.map(describeDifference);
    const more = differences.length > 1 ? ` (and ${differences.length - 1} more)` : "";
    this.#log.warn(
      { server: name, version, differences },
      `the server ${name} has other prices or limits than this one: ${first}${more}`,
    );
  }
}
