import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import ipaddr from "ipaddr.js";

/** Connections beyond the bounds that are kept for `/health` and `/ready`. */
const placesForProbes = 16;

export interface SocketBounds {
  readonly ofAll: number;
  readonly ofAddress: number;
  /** Whether this is the address of a trusted proxy. Many callers share it, so `ofAddress` does not apply to it. */
  readonly isProxy: (address: string) => boolean;
}

/** The bound that a connection exceeds: that on all connections, or that on one address. */
export type SocketBound = keyof Omit<SocketBounds, "isProxy">;

/**
 * How many connections there may be, in all and from one address. One beyond a bound is served `/health` and `/ready` only. Of
 * these, the oldest is closed when there are too many, so that a probe always finds a place.
 */
export class SocketPlaces {
  readonly #bounds: SocketBounds;
  readonly #onRefused: (bound: SocketBound, address: string) => void;
  readonly #ofAddress = new Map<string, number>();
  #taken = 0;
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
    const bound = this.#exceeded(socket);
    if (!bound) return this.#take(socket);
    this.#probes.set(socket, bound);
    socket.on("close", () => this.#probes.delete(socket));
    const [oldest] = this.#probes.keys();
    if (oldest && this.#probes.size > placesForProbes) this.#refuse(oldest);
  }

  /** Whether a request may be answered. If not, its connection is closed. */
  admits({ socket, url = "" }: IncomingMessage): boolean {
    if (!this.#probes.has(socket) || /^\/(?:health|ready)(?:\?|$)/u.test(url)) return true;
    if (this.#exceeded(socket)) {
      this.#refuse(socket);
      return false;
    }
    this.#probes.delete(socket);
    this.#take(socket);
    return true;
  }

  #exceeded({ remoteAddress = "" }: Socket): SocketBound | undefined {
    const { ofAll, ofAddress, isProxy } = this.#bounds;
    if (this.#taken >= ofAll) return "ofAll";
    const isFull = (this.#ofAddress.get(networkOf(remoteAddress)) ?? 0) >= ofAddress;
    return isFull && !isProxy(remoteAddress) ? "ofAddress" : undefined;
  }

  #take(socket: Socket): void {
    const network = networkOf(socket.remoteAddress ?? "");
    this.#change(network, 1);
    socket.on("close", () => this.#change(network, -1));
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
    this.#refused[bound] += 1;
    this.#onRefused(bound, socket.remoteAddress ?? "");
    socket.destroy();
  }
}

/** An IPv4 address. Of an IPv6 address the first half, because one caller commonly has all of the second. */
function networkOf(address: string): string {
  // Node writes the interface of a link-local address behind a percent sign.
  const [plain = ""] = address.split("%");
  // A socket that is closed already has no address.
  if (plain === "") return "";
  const parsed = ipaddr.process(plain);
  return "parts" in parsed ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
