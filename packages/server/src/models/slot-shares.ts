import type { ServerRegister } from "../accounts/servers/server-register.ts";
import type { EngineSlots } from "./model-queue.ts";

/** The live servers that send requests to the same engine. */
interface Sharers {
  readonly count: number;
  /** The position of this server among them, from 0. */
  readonly rank: number;
}

const alone: Sharers = { count: 1, rank: 0 };

/**
 * Divides the slots of engines among the servers that send requests to them. An engine that this server has started for itself
 * is not divided. Without a register, or as long as it is not known, all slots belong to this server.
 */
export class SlotShares {
  readonly #register: ServerRegister | undefined;
  #sharers = new Map<string, Sharers>();

  constructor(register: ServerRegister | undefined) {
    this.#register = register;
    register?.onRead(() => this.#count(register));
  }

  /** Returns this server's part of the slots of a model's engine. It changes when a server comes or goes. */
  of(modelId: string, { slots, spareSlots = 0 }: EngineSlots): EngineSlots {
    const sharers = this.#sharers.get(modelId) ?? alone;
    // A server without a slot could not answer at all, but one without a spare slot can.
    return { slots: Math.max(1, shareOf(slots, sharers)), spareSlots: shareOf(spareSlots, sharers) };
  }

  /** Calls a function when the shares may have changed. */
  onChange(listener: () => void): void {
    this.#register?.onRead(listener);
  }

  #count({ live, ownId }: ServerRegister): void {
    const own = live.find(({ id }) => id === ownId)?.facts.engines ?? {};
    this.#sharers = new Map(
      Object.entries(own).map(([modelId, engines]) => {
        const sharers = live.filter(({ facts }) => facts.engines[modelId]?.some((engine) => engines.includes(engine)));
        return [modelId, { count: sharers.length, rank: sharers.findIndex(({ id }) => id === ownId) }];
      }),
    );
  }
}

/** The first servers get one more if the division leaves a rest. */
const shareOf = (slots: number, { count, rank }: Sharers): number =>
  Math.floor(slots / count) + (rank < slots % count ? 1 : 0);
