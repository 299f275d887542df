import { mixHashes } from "../openai/conversation.ts";
import type { Conversation } from "../openai/conversation.ts";
import type { Endpoint } from "./endpoint.ts";

/** A request is remembered by one hash, or by two if its last message is long. The oldest hashes are forgotten. */
const maxRemembered = 100_000;

/** The number of begun conversations that are compared. After that, older ones count half. */
const maxBegun = 1024;

/**
 * Chooses the endpoint that has read the conversation of a request, because only that one has it in its prompt cache.
 *
 * - A request that continues a remembered one goes where that one went. A prompt that shares only its beginning with others,
 *   such as a long system prompt, does not continue them.
 * - Any other request goes to an endpoint that its opening decides (rendezvous hashing). So servers agree without talking to
 *   each other, a restarted server finds the same endpoints, and an endpoint that is added or removed moves only its own
 *   conversations.
 * - An endpoint with too many running requests, or too many new conversations, is passed over for the next one.
 */
export class ConversationAffinity {
  /** The hash of the endpoint of each remembered prefix, the oldest first. An address that comes back has the same hash. */
  readonly #remembered = new Map<number, number>();
  /** The conversations that lately began at each endpoint. */
  #begun = new Map<Endpoint, number>();

  /**
   * @param healthy the endpoints to choose from
   * @returns undefined if there are none
   */
  choose(healthy: readonly Endpoint[], conversation: Conversation): Endpoint | undefined {
    const running = healthy.reduce((sum, { inFlight }) => sum + inFlight, 0);
    const bound = (1.25 * (running + 1)) / healthy.length;
    const last = this.#find(conversation.turns, healthy);
    // Moving a conversation costs its cache, so a few requests more than the bound are tolerated.
    const stays = last !== undefined && last.inFlight + 1 <= bound + 4;
    const chosen = stays ? last : this.#begin(healthy, conversation, Math.ceil(bound));
    if (chosen) this.#remember(conversation, chosen);
    return chosen;
  }

  /** Chooses for a conversation that is new here. One that only shares its beginning with another may join that one. */
  #begin(healthy: readonly Endpoint[], conversation: Conversation, maxInFlight: number): Endpoint | undefined {
    const mean = this.#welcome(healthy);
    const countOf = (one: Endpoint): number => this.#begun.get(one) ?? 0;
    const hasRoom = (one: Endpoint, maxCount: number): boolean =>
      one.inFlight + 1 <= maxInFlight && countOf(one) + 1 <= maxCount;
    const nearest = this.#find(conversation.blocks, healthy);
    const joined = nearest && hasRoom(nearest, Math.max(8, 1.2 * mean + 1)) ? nearest : undefined;
    const weightOf = (one: Endpoint): number => mixHashes(conversation.opening, one.hash);
    const ranked = healthy.toSorted((a, b) => weightOf(b) - weightOf(a));
    const leastBusy = healthy.toSorted((a, b) => a.inFlight - b.inFlight || countOf(a) - countOf(b))[0];
    const chosen = joined ?? ranked.find((one) => hasRoom(one, Math.max(4, 1.15 * mean + 1))) ?? leastBusy;
    if (chosen) this.#begun.set(chosen, countOf(chosen) + 1);
    return chosen;
  }

  /** Gives new endpoints the mean count, because a lower one would flood them. @returns the mean */
  #welcome(healthy: readonly Endpoint[]): number {
    const counts = healthy.flatMap((one) => this.#begun.get(one) ?? []);
    const sum = counts.reduce((all, one) => all + one, 0);
    const mean = sum / Math.max(1, counts.length);
    const share = sum > maxBegun ? 0.5 : 1;
    // Endpoints that are not healthy are left out, so they come back as new ones.
    this.#begun = new Map(healthy.map((one) => [one, share * (this.#begun.get(one) ?? mean)]));
    return share * mean;
  }

  /** Returns the healthy endpoint of the longest remembered prefix. */
  #find(prefixes: readonly number[], healthy: readonly Endpoint[]): Endpoint | undefined {
    for (let at = prefixes.length - 1; at >= 0; at -= 1) {
      const hash = this.#remembered.get(prefixes[at] ?? 0);
      const endpoint = hash === undefined ? undefined : healthy.find((one) => one.hash === hash);
      if (endpoint) return endpoint;
    }
    return undefined;
  }

  #remember({ turns, lastBlock }: Conversation, endpoint: Endpoint): void {
    for (const prefix of [lastBlock, turns.at(-1)]) {
      if (prefix === undefined) continue;
      this.#remembered.delete(prefix);
      this.#remembered.set(prefix, endpoint.hash);
    }
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= maxRemembered) return;
      this.#remembered.delete(oldest);
    }
  }
}
