import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import ipaddr from "ipaddr.js";

/** Number of connections beyond the bounds that are kept open for requests of `/health` and `/ready`. */
export const placesForProbes = 16;

/** Checks whether a URL is that of a health or readiness probe. */
export const isProbe = (url: string): boolean => /^\/(?:health|ready)(?:\?|$)/u.test(url);

export interface SocketBounds {
  readonly ofAll: number;
  readonly ofAddress: number;
  /** Checks whether this is the address of a trusted proxy. Many callers share it, so `ofAddress` does not apply to it. */
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

/** The bound that a connection exceeds: the bound on all connections, or the bound per address. */
export type SocketBound = keyof Omit<SocketBounds, "isProxy">;

/**
 * Bounds the number of open connections, in total and per address. Beyond a bound, a new connection takes the place of the
 * oldest one that has not shown a valid key yet. If all have shown one, it takes the place of an idle connection of the
 * network with the most places, unless its own network has as many. A connection without a place can only request `/health`
 * and `/ready`. When more than `placesForProbes` have no place, the network with the most of them loses its oldest, so a
 * probe always finds room.
 */
export class SocketPlaces {
  readonly #bounds: SocketBounds;
  readonly #options: SocketPlacesOptions;
  /** The connections of each network that have a place, oldest first. */
  readonly #ofNetwork = new Map<string, Set<Socket>>();
  /** The network of each connection that has a place. */
  readonly #taken = new Map<Socket, string>();
  /** The connections with a place that have shown no valid key yet, oldest first. */
  readonly #strangers = new Set<Socket>();
  /** Connections without a place, oldest first. */
  readonly #waiting = new Map<Socket, Waiting>();
  readonly #refused: Record<SocketBound, number> = { ofAll: 0, ofAddress: 0 };

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
    const bound = this.#exceeded(socket, network);
    if (!bound || this.#displaceStranger(bound, socket, network) || this.#displaceIdle(bound, network))
      this.#take(socket, network);
    else this.#wait(socket, { network, bound });
  }

  /** Marks a connection as authenticated: no newcomer takes its place while it is in use. */
  keep(socket: Socket): void {
    if (this.#waiting.has(socket)) this.#takeIfFree(socket);
    this.#strangers.delete(socket);
  }

  /** Checks whether a request may be answered. If not, closes its connection. */
  admits({ socket, url = "" }: IncomingMessage): boolean {
    const waiting = this.#waiting.get(socket);
    if (!waiting || isProbe(url) || this.#takeIfFree(socket)) return true;
    const { bound, network } = waiting;
    // A later connection may have taken the place of this one before its request arrived.
    const isFree = this.#displaceIdle(bound, network);
    if (isFree) this.#take(socket, network);
    else this.#close(socket, bound);
    return isFree;
  }

  #exceeded({ remoteAddress = "" }: Socket, network: string): SocketBound | undefined {
    const { ofAll, ofAddress, isProxy } = this.#bounds;
    // A new connection beyond the bound of its address takes the place of a connection from the same address.
    const isFull = this.#held(network) >= ofAddress;
    if (isFull && !isProxy(remoteAddress)) return "ofAddress";
    return this.#taken.size >= ofAll ? "ofAll" : undefined;
  }

  #take(socket: Socket, network: string): void {
    this.#waiting.delete(socket);
    this.#taken.set(socket, network);
    this.#strangers.add(socket);
    const its = this.#ofNetwork.get(network) ?? new Set();
    this.#ofNetwork.set(network, its.add(socket));
  }

  #held(network: string): number {
    return this.#ofNetwork.get(network)?.size ?? 0;
  }

  #takeIfFree(socket: Socket): boolean {
    const network = networkOf(socket);
    if (this.#exceeded(socket, network)) return false;
    this.#take(socket, network);
    return true;
  }

  /** @returns true if a place is free for the newcomer now */
  #displaceStranger(bound: SocketBound, newcomer: Socket, network: string): boolean {
    for (const socket of this.#strangers) {
      const its = this.#taken.get(socket) ?? "";
      if (bound === "ofAddress" && its !== network) continue;
      this.#leave(socket);
      this.#wait(socket, { network: its, bound });
      return !this.#exceeded(newcomer, network);
    }
    return false;
  }

  /**
   * Closes an idle connection of the largest network. HTTP clients must expect that an idle connection is closed at any
   * time.
   * @returns true if a place is free now
   */
  #displaceIdle(bound: SocketBound, network: string): boolean {
    if (bound === "ofAddress") return false;
    const idle = this.#largestNetwork(this.#held(network) + 1)
      ?.values()
      .find(this.#options.isIdle);
    if (idle) this.#close(idle, bound);
    return idle !== undefined;
  }

  /**
   * Finds the network with the most connections, if it has more than `places`. Trusted proxies are skipped, because many
   * callers share their address.
   */
  #largestNetwork(places: number): ReadonlySet<Socket> | undefined {
    let largest: ReadonlySet<Socket> | undefined;
    for (const sockets of this.#ofNetwork.values()) {
      const [{ remoteAddress = "" } = {}] = sockets;
      if (sockets.size > (largest?.size ?? places) && !this.#bounds.isProxy(remoteAddress)) largest = sockets;
    }
    return largest;
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
    const network = this.#taken.get(socket);
    if (network === undefined) return;
    this.#taken.delete(socket);
    this.#strangers.delete(socket);
    const its = this.#ofNetwork.get(network);
    its?.delete(socket);
    if (its?.size === 0) this.#ofNetwork.delete(network);
  }

  #close(socket: Socket, bound: SocketBound): void {
    this.#refused[bound] += 1;
    this.#options.onRefused(bound, socket.remoteAddress ?? "");
    this.#leave(socket);
    socket.destroy();
  }
}

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
