/** The bound that a connection exceeds: that of its address, or that on all connections. */
export type SocketBound = "address" | "all";

/** The connections by which a newcomer is judged. Only those that have a place are counted and found. */
export interface Places<Connection> {
  readonly all: number;
  readonly maxAll: number;
  /** The connections of the newcomer's network. */
  readonly network: number;
  /** Infinity for a trusted proxy. */
  readonly maxNetwork: number;
  /** Finds the oldest connection that has not shown a valid key. */
  readonly findStranger: () => Connection | undefined;
  /** Finds the oldest one of those in the newcomer's network. */
  readonly findNeighbour: () => Connection | undefined;
  /**
   * Finds a connection without a running request, in the largest network that is not a trusted proxy's.
   * @param minNetwork the minimum of connections that this network must have
   */
  readonly findIdle: (minNetwork: number) => Connection | undefined;
}

/** A connection without a place that asks for one. */
export interface Newcomer {
  /** It has just opened, or it has waited and a request has arrived on it, or that request has shown a valid key. */
  readonly with: "nothing" | "request" | "key";
  /** The bound for which it waits; undefined if it has just opened. */
  readonly waitsFor?: SocketBound;
}

/** In a replacement, the victim loses its place to the newcomer. It then waits without a place, or is closed. */
export type Decision<Connection> =
  | { readonly kind: "admit" }
  | {
      readonly kind: "replace";
      readonly victim: Connection;
      readonly fate: "waits" | "is closed";
      readonly bound: SocketBound;
    }
  | { readonly kind: "refuse"; readonly bound: SocketBound };

interface Rule {
  readonly bound: SocketBound;
  /** The newcomers that may take a place like this. */
  readonly from: readonly Newcomer["with"][];
  readonly victim: <Connection>(places: Places<Connection>) => Connection | undefined;
  readonly fate: "waits" | "is closed";
}

/** The first rule with a victim decides. If there is none, the newcomer is refused. */
const rules: readonly Rule[] = [
  {
    bound: "address",
    from: ["nothing"],
    // An IPv6 network with a proxy in it may have more than the maximum. Then one victim is not enough.
    victim: ({ findNeighbour, network, maxNetwork }) => (network <= maxNetwork ? findNeighbour() : undefined),
    fate: "waits",
  },
  {
    bound: "all",
    from: ["nothing"],
    victim: ({ findStranger }) => findStranger(),
    fate: "waits",
  },
  {
    bound: "all",
    from: ["nothing", "request"],
    // The victim's network then still has at least as many as the newcomer's.
    victim: ({ findIdle, network }) => findIdle(network + 2),
    // HTTP clients must expect that an idle connection is closed at any time.
    fate: "is closed",
  },
];

/** Decides whether a connection gets a place, and which one makes room for it. */
export function decide<Connection>(places: Places<Connection>, newcomer: Newcomer): Decision<Connection> {
  const exceeded = exceededBound(places);
  if (!exceeded) return { kind: "admit" };
  const bound = newcomer.waitsFor ?? exceeded;
  for (const rule of rules) {
    if (rule.bound !== bound || !rule.from.includes(newcomer.with)) continue;
    const victim = rule.victim(places);
    if (victim !== undefined) return { kind: "replace", victim, fate: rule.fate, bound };
  }
  return { kind: "refuse", bound };
}

/** The bound of the address comes first, so a connection beyond it takes a place of its own network. */
function exceededBound({ all, maxAll, network, maxNetwork }: Places<unknown>): SocketBound | undefined {
  if (network >= maxNetwork) return "address";
  return all >= maxAll ? "all" : undefined;
}
