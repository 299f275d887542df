import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import ipaddr from "ipaddr.js";

/** Connections beyond the bounds that are kept for `/health` and `/ready`. */
export const placesForProbes = 16;

/** What a load balancer asks. */
export const isProbe = (url: string): boolean => /^\/(?:health|ready)(?:\?|$)/u.test(url);

export interface SocketBounds {
  readonly ofAll: number;
  readonly ofAddress: number;
  /** Whether this is the address of a trusted proxy. Many callers share it, so `ofAddress` does not apply to it. */
  readonly isProxy: (address: string) => boolean;
}

export interface SocketPlacesOptions {
  /** Whether a connection has no request under way. */
  readonly isIdle: (socket: Socket) => boolean;
  readonly onRefused: OnRefused;
}

/** Is called for every connection that is closed because of a bound. */
export type OnRefused = (bound: SocketBound, address: string) => void;

/** A connection without a place, and the bound that was in its way. */
interface Waiting {
  readonly network: string;
  readonly bound: SocketBound;
}

/** The bound that a connection exceeds: that on all connections, or that on one address. */
export type SocketBound = keyof Omit<SocketBounds, "isProxy">;

/**
 * Bounds the connections, in all and from one address. Beyond a bound, a new connection takes the place of the oldest one that has not
 * shown a valid key yet. If all have shown one, it takes the place of an idle connection of the network with the most places, unless its
 * own network has as many. A connection without a place is served `/health` and `/ready` only. When too many have no place, the network
 * with the most of them loses its oldest, so that a probe always finds room.
 */
export class SocketPlaces {
  readonly #bounds: SocketBounds;
  readonly #options: SocketPlacesOptions;
  /** The connections of each network that have a place, oldest first. */
  readonly #ofNetwork = new Map<string, Set<Socket>>();
  /** The network of each connection that has a place. */
  readonly #taken = new Map<Socket, string>();
  /** Those of them that have shown no valid key yet, oldest first. */
  readonly #strangers = new Set<Socket>();
  /** Connections without a place, oldest first. */
  readonly #waiting = new Map<Socket, Waiting>();
  readonly #refused: Record<SocketBound, number> = { ofAll: 0, ofAddress: 0 };

  constructor(bounds: SocketBounds, options: SocketPlacesOptions) {
    this.#bounds = bounds;
    this.#options = options;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#taken.size + this.#waiting.size;
  }

  /** Connections that were closed because of each bound. */
  get refused(): Readonly<Record<SocketBound, number>> {
    return this.#refused;
  }

  /** To be called once for every new connection. */
  enter(socket: Socket): void {
    socket.on("close", () => this.#leave(socket));
    const network = networkOf(socket);
    const bound = this.#exceeded(socket, network);
    if (!bound || this.#displaceStranger(bound, socket, network) || this.#displaceIdle(bound, network))
      this.#take(socket, network);
    else this.#wait(socket, { network, bound });
  }

  /** To be called for a connection that has shown a valid key: no newcomer takes its place. */
  keep(socket: Socket): void {
    if (this.#waiting.has(socket)) this.#takeIfFree(socket);
    this.#strangers.delete(socket);
  }

  /** Whether a request may be answered. If not, its connection is closed. */
  admits({ socket, url = "" }: IncomingMessage): boolean {
    const waiting = this.#waiting.get(socket);
    if (!waiting || isProbe(url) || this.#takeIfFree(socket)) return true;
    const { bound, network } = waiting;
    // A newcomer may have lost its place to the next one before its request arrived.
    const isFree = this.#displaceIdle(bound, network);
    if (isFree) this.#take(socket, network);
    else this.#close(socket, bound);
    return isFree;
  }

  #exceeded({ remoteAddress = "" }: Socket, network: string): SocketBound | undefined {
    const { ofAll, ofAddress, isProxy } = this.#bounds;
    // An address beyond its own bound takes places of its own connections, never those of others.
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

  /** @returns whether there was a connection whose place the newcomer can have */
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
   * HTTP expects of a client that a connection without a request may be closed at any time.
   * @returns whether a place is free now
   */
  #displaceIdle(bound: SocketBound, network: string): boolean {
    if (bound === "ofAddress") return false;
    const idle = this.#largestNetwork(this.#held(network) + 1)
      ?.values()
      .find(this.#options.isIdle);
    if (idle) this.#close(idle, bound);
    return idle !== undefined;
  }

  /** Of those with more than so many places. A trusted proxy is none of them, because its connections belong to many callers. */
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

/** An IPv4 address. Of an IPv6 address the first half, because one caller commonly has all of the second. */
function networkOf({ remoteAddress = "" }: Socket): string {
  // IPv4 addresses are read without the library, because a flood of connections waits for this line.
  const [, v4] = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/u.exec(remoteAddress) ?? [];
  if (v4 !== undefined) return v4;
  // Node writes the interface of a link-local address behind a percent sign.
  const [plain = ""] = remoteAddress.split("%");
  // A socket that is closed already has no address.
  if (plain === "") return "";
  const parsed = ipaddr.process(plain);
  return "parts" in parsed ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
