import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import ipaddr from "ipaddr.js";
import { decide } from "./decide-place.ts";
import type { Newcomer, Places, SocketBound } from "./decide-place.ts";

/** Number of connections beyond the bounds that are kept open for requests of `/health` and `/ready`. */
export const placesForProbes = 16;

/** Checks whether a URL is that of a health or readiness probe. */
export const isProbe = (url: string): boolean => /^\/(?:health|ready)(?:\?|$)/u.test(url);

export interface SocketBounds {
  readonly maxAll: number;
  readonly maxPerAddress: number;
  /** Checks whether this is the address of a trusted proxy. Many callers share it, so `maxPerAddress` does not apply to it. */
  readonly isProxy: (address: string) => boolean;
}

export interface SocketPlacesOptions {
  /** Checks whether no request is running on a connection. */
  readonly isIdle: (socket: Socket) => boolean;
  readonly onRefused: OnRefused;
}

/** Called for every connection that is closed because of a bound. */
export type OnRefused = (bound: SocketBound, address: string) => void;

/** A connection without a place, and the bound that it exceeded. */
interface Waiting {
  readonly network: string;
  readonly bound: SocketBound;
}

/** The connections of a network that have a place, and those of them that have shown no valid key yet. Oldest first. */
interface Network {
  readonly sockets: Set<Socket>;
  readonly strangers: Set<Socket>;
}

const nobody: ReadonlySet<Socket> = new Set();

/**
 * Bounds the number of open connections, in total and per address. `decide` has the rules for a connection beyond a bound;
 * this class carries out the decisions. A connection without a place can only request `/health` and `/ready`. When more than
 * `placesForProbes` have no place, the network with the most of them loses its oldest, so a probe always finds room.
 */
export class SocketPlaces {
  readonly #bounds: SocketBounds;
  readonly #options: SocketPlacesOptions;
  readonly #networks = new Map<string, Network>();
  /** The network of each connection that has a place. */
  readonly #taken = new Map<Socket, string>();
  /** The connections with a place that have shown no valid key yet, oldest first. */
  readonly #strangers = new Set<Socket>();
  /** Connections without a place, oldest first. */
  readonly #waiting = new Map<Socket, Waiting>();
  readonly #refused: Record<SocketBound, number> = { all: 0, address: 0 };

  constructor(bounds: SocketBounds, options: SocketPlacesOptions) {
    this.#bounds = bounds;
    this.#options = options;
  }

  /** Number of connections that are open now. */
  get open(): number {
    return this.#taken.size + this.#waiting.size;
  }

  /** Number of connections that were closed because of each bound. */
  get refused(): Readonly<Record<SocketBound, number>> {
    return this.#refused;
  }

  /** Gives a new connection a place if possible. Must be called once for each connection. */
  enter(socket: Socket): void {
    socket.on("close", () => this.#leave(socket));
    const network = networkOf(socket);
    const bound = this.#place(socket, network, { with: "nothing" });
    if (bound) this.#wait(socket, { network, bound });
  }

  /** Marks a connection as authenticated: no newcomer takes its place while it is in use. */
  keep(socket: Socket): void {
    const waiting = this.#waiting.get(socket);
    if (waiting) this.#place(socket, waiting.network, { with: "key", waitsFor: waiting.bound });
    this.#strangers.delete(socket);
    this.#networks.get(this.#taken.get(socket) ?? "")?.strangers.delete(socket);
  }

  /** Checks whether a request may be answered. If not, closes its connection. */
  admits({ socket, url = "" }: IncomingMessage): boolean {
    const waiting = this.#waiting.get(socket);
    if (!waiting || isProbe(url)) return true;
    // A later connection may have taken the place of this one before its request arrived.
    const bound = this.#place(socket, waiting.network, { with: "request", waitsFor: waiting.bound });
    if (bound) this.#close(socket, bound);
    return bound === undefined;
  }

  /** @returns the bound that refuses the connection, undefined if it has a place now */
  #place(socket: Socket, network: string, newcomer: Newcomer): SocketBound | undefined {
    const decision = decide(this.#placesFor(socket, network), newcomer);
    if (decision.kind === "refuse") return decision.bound;
    if (decision.kind === "replace") {
      if (decision.fate === "waits") this.#displace(decision.victim, decision.bound);
      else this.#close(decision.victim, decision.bound);
    }
    this.#take(socket, network);
    return undefined;
  }

  #placesFor({ remoteAddress = "" }: Socket, name: string): Places<Socket> {
    const { maxAll, maxPerAddress, isProxy } = this.#bounds;
    const { sockets = nobody, strangers = nobody } = this.#networks.get(name) ?? {};
    const hasNoMaximum = sockets.size >= maxPerAddress && isProxy(remoteAddress);
    return {
      all: this.#taken.size,
      maxAll,
      network: sockets.size,
      maxNetwork: hasNoMaximum ? Infinity : maxPerAddress,
      findStranger: () => first(this.#strangers),
      findNeighbour: () => first(strangers),
      findIdle: (minNetwork) => this.#largestNetwork(minNetwork).values().find(this.#options.isIdle),
    };
  }

  /** Trusted proxies are skipped, because many callers share their address. */
  #largestNetwork(minSize: number): ReadonlySet<Socket> {
    let largest = nobody;
    for (const { sockets } of this.#networks.values()) {
      const isLarger = sockets.size >= minSize && sockets.size > largest.size;
      if (isLarger && !this.#bounds.isProxy(first(sockets)?.remoteAddress ?? "")) largest = sockets;
    }
    return largest;
  }

  #take(socket: Socket, name: string): void {
    this.#waiting.delete(socket);
    this.#taken.set(socket, name);
    this.#strangers.add(socket);
    const network = this.#networks.get(name) ?? { sockets: new Set(), strangers: new Set() };
    network.sockets.add(socket);
    network.strangers.add(socket);
    this.#networks.set(name, network);
  }

  /** A stranger waits from now on. */
  #displace(stranger: Socket, bound: SocketBound): void {
    const network = this.#taken.get(stranger) ?? "";
    this.#leave(stranger);
    this.#wait(stranger, { network, bound });
  }

  #wait(socket: Socket, waiting: Waiting): void {
    this.#waiting.set(socket, waiting);
    if (this.#waiting.size <= placesForProbes) return;
    const byNetwork = Map.groupBy(this.#waiting, ([, { network }]) => network);
    const [oldest] = [...byNetwork.values()].reduce((a, b) => (b.length > a.length ? b : a));
    if (oldest) this.#close(oldest[0], oldest[1].bound);
  }

  #leave(socket: Socket): void {
    this.#waiting.delete(socket);
    const name = this.#taken.get(socket);
    if (name === undefined) return;
    this.#taken.delete(socket);
    this.#strangers.delete(socket);
    const network = this.#networks.get(name);
    network?.sockets.delete(socket);
    network?.strangers.delete(socket);
    if (network?.sockets.size === 0) this.#networks.delete(name);
  }

  #close(socket: Socket, bound: SocketBound): void {
    this.#refused[bound] += 1;
    this.#options.onRefused(bound, socket.remoteAddress ?? "");
    this.#leave(socket);
    socket.destroy();
  }
}

const first = (sockets: ReadonlySet<Socket>): Socket | undefined => sockets.values().next().value;

/**
 * Returns the IPv4 address of a connection, or the first half of its IPv6 address. One caller commonly owns all addresses
 * that share this half.
 */
function networkOf({ remoteAddress = "" }: Socket): string {
  // IPv4 addresses are read without the library, because a flood of connections waits for this line.
  const [, v4] = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/u.exec(remoteAddress) ?? [];
  if (v4 !== undefined) return v4;
  // Node appends the interface to a link-local address, after a percent sign.
  const [plain = ""] = remoteAddress.split("%");
  // A closed socket has no address.
  if (plain === "") return "";
  const parsed = ipaddr.process(plain);
  return "parts" in parsed ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
