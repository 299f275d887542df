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

/** A place that a connection from this network has taken. */
interface Place {
  readonly network: string;
  readonly giveBack: () => void;
}

/** The bound that a connection exceeds: that on all connections, or that on one address. */
export type SocketBound = keyof Omit<SocketBounds, "isProxy">;

/**
 * How many connections there may be, in all and from one address. A newcomer beyond a bound takes the place of the oldest
 * connection that has not sent a request yet. Where each has sent one, the newcomer is served `/health` and `/ready` only. Of
 * these, the oldest is closed when there are too many, so that a probe always finds a place.
 */
export class SocketPlaces {
  readonly #bounds: SocketBounds;
  readonly #onRefused: (bound: SocketBound, address: string) => void;
  readonly #ofAddress = new Map<string, number>();
  #taken = 0;
  /** Connections with a place that have sent no request yet, oldest first. */
  readonly #silent = new Map<Socket, Place>();
  /** Connections beyond a bound, oldest first. */
  readonly #probes = new Map<Socket, SocketBound>();
  readonly #refused: Record<SocketBound, number> = { ofAll: 0, ofAddress: 0 };

  /** @param onRefused is called for every connection that is closed because of a bound */
  constructor(bounds: SocketBounds, onRefused: (bound: SocketBound, address: string) => void) {
    this.#bounds = bounds;
    this.#onRefused = onRefused;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#taken + this.#probes.size;
  }

  /** Connections that were closed because of each bound. */
  get refused(): Readonly<Record<SocketBound, number>> {
    return this.#refused;
  }

  /** To be called once for every new connection. */
  enter(socket: Socket): void {
    const network = networkOf(socket);
    const bound = this.#exceeded(socket, network);
    if (!bound || this.#closeSilent(bound, socket, network)) return this.#take(socket, network);
    this.#probes.set(socket, bound);
    socket.on("close", () => this.#probes.delete(socket));
    const [oldest] = this.#probes.keys();
    if (oldest && this.#probes.size > placesForProbes) this.#refuse(oldest);
  }

  /** Whether a request may be answered. If not, its connection is closed. */
  admits({ socket, url = "" }: IncomingMessage): boolean {
    this.#silent.delete(socket);
    if (!this.#probes.has(socket) || isProbe(url)) return true;
    const network = networkOf(socket);
    if (this.#exceeded(socket, network)) {
      this.#refuse(socket);
      return false;
    }
    this.#probes.delete(socket);
    this.#take(socket, network);
    this.#silent.delete(socket);
    return true;
  }

  #exceeded({ remoteAddress = "" }: Socket, network: string): SocketBound | undefined {
    const { ofAll, ofAddress, isProxy } = this.#bounds;
    // An address beyond its own bound closes its own connections, never those of others.
    const isFull = (this.#ofAddress.get(network) ?? 0) >= ofAddress;
    if (isFull && !isProxy(remoteAddress)) return "ofAddress";
    return this.#taken >= ofAll ? "ofAll" : undefined;
  }

  #take(socket: Socket, network: string): void {
    let hasPlace = true;
    const giveBack = (): void => {
      this.#silent.delete(socket);
      if (hasPlace) this.#change(network, -1);
      hasPlace = false;
    };
    this.#change(network, 1);
    this.#silent.set(socket, { network, giveBack });
    socket.on("close", giveBack);
  }

  /** @returns whether there was a connection to close whose place the newcomer can have */
  #closeSilent(bound: SocketBound, newcomer: Socket, network: string): boolean {
    for (const [socket, place] of this.#silent) {
      if (bound === "ofAddress" && place.network !== network) continue;
      place.giveBack();
      this.#close(socket, bound);
      return !this.#exceeded(newcomer, network);
    }
    return false;
  }

  #change(network: string, places: number): void {
    this.#taken += places;
    const left = (this.#ofAddress.get(network) ?? 0) + places;
    if (left === 0) this.#ofAddress.delete(network);
    else this.#ofAddress.set(network, left);
  }

  #refuse(socket: Socket): void {
    const bound = this.#probes.get(socket) ?? "ofAll";
    this.#probes.delete(socket);
    this.#close(socket, bound);
  }

  #close(socket: Socket, bound: SocketBound): void {
    this.#refused[bound] += 1;
    this.#onRefused(bound, socket.remoteAddress ?? "");
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
