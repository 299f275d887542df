import { expect, test } from "vitest";
import { decide } from "./decide-place.ts";
import type { Newcomer, Places } from "./decide-place.ts";

/** The places of a test: counts, and the victims that are there. */
interface Given extends Partial<Pick<Places<string>, "all" | "network" | "maxNetwork">> {
  readonly victims?: readonly ("stranger" | "neighbour" | "idle")[];
  /** The connections of the largest network. */
  readonly largest?: number;
}

/** All 100 places are taken, and 5 of the 10 of the newcomer's network. */
function placesOf({ victims = [], largest = 7, ...counts }: Given): Places<string> {
  const find = (name: "stranger" | "neighbour" | "idle") => () => (victims.includes(name) ? name : undefined);
  return {
    all: 100,
    maxAll: 100,
    network: 5,
    maxNetwork: 10,
    findStranger: find("stranger"),
    findNeighbour: find("neighbour"),
    findIdle: (minNetwork) => (largest >= minNetwork ? find("idle")() : undefined),
    ...counts,
  };
}

const roomy = { all: 99 };
const fullNetwork = { ...roomy, network: 10 };
const proxy = { ...roomy, network: 90, maxNetwork: Infinity };
const hasStranger: Given = { victims: ["stranger"] };
const hasNeighbour: Given = { victims: ["stranger", "neighbour"] };
const hasIdle: Given = { victims: ["idle"] };

const opens: Newcomer = { with: "nothing" };
const requests: Newcomer = { with: "request", waitsFor: "all" };
const showsKey: Newcomer = { with: "key", waitsFor: "all" };
const waitsForAddress = { waitsFor: "address" } as const;

const stranger = "stranger waits";
const neighbour = "neighbour waits";
const idle = "idle is closed";

const rows: readonly (readonly [title: string, given: Given, newcomer: Newcomer, decision: string])[] = [
  ["a free place is for a new connection", roomy, opens, "admit"],
  ["a free place is for a connection that waited and has a request", roomy, requests, "admit"],
  ["a free place is for a connection that waited and shows a key", roomy, showsKey, "admit"],
  ["a proxy has no bound of its own", proxy, opens, "admit"],

  ["a new connection takes the place of a stranger", hasStranger, opens, stranger],
  ["a stranger comes before an idle connection", { victims: ["stranger", "idle"] }, opens, stranger],
  ["a stranger stays where the newcomer has waited", hasStranger, requests, "refuse all"],

  ["an idle connection makes room for a smaller network", hasIdle, opens, idle],
  ["an idle connection makes room for a request that waited", hasIdle, requests, idle],
  ["an idle connection stays where the newcomer shows a key", hasIdle, showsKey, "refuse all"],
  ["an idle connection stays if its network has only one more", { ...hasIdle, network: 6 }, opens, "refuse all"],
  ["an idle connection stays if its network is the newcomer's", { ...hasIdle, network: 7 }, opens, "refuse all"],
  ["an idle connection stays if only proxies have many", { ...hasIdle, largest: 0 }, opens, "refuse all"],
  ["a running request is not ended", {}, opens, "refuse all"],

  ["a full network replaces a stranger of its own", { ...fullNetwork, ...hasNeighbour }, opens, neighbour],
  ["a full network replaces no other stranger", { ...fullNetwork, ...hasStranger }, opens, "refuse address"],
  ["a full network replaces no idle connection", { ...fullNetwork, ...hasIdle, largest: 20 }, opens, "refuse address"],
  ["its bound is named before that on all", { network: 10 }, opens, "refuse address"],
  ["more than full, one stranger is not enough", { ...hasNeighbour, network: 11 }, opens, "refuse address"],
  ["who waits for a full network gets a place of it", roomy, { ...requests, ...waitsForAddress }, "admit"],
  ["who waits for a full network gets no other place", hasIdle, { ...requests, ...waitsForAddress }, "refuse address"],
];

test.each(rows)("%s", (_title, given, newcomer, expected) => {
  const decision = decide(placesOf(given), newcomer);
  if (decision.kind === "admit") expect("admit").toBe(expected);
  else if (decision.kind === "refuse") expect(`refuse ${decision.bound}`).toBe(expected);
  else expect(`${decision.victim} ${decision.fate}`).toBe(expected);
});

test("the victim is told the bound that it made room for", () => {
  const victim = "stranger";
  expect(decide(placesOf(hasStranger), opens)).toEqual({ kind: "replace", victim, fate: "waits", bound: "all" });
});

test("nothing is searched while there is room", () => {
  const findStranger = (): never => {
    throw new Error("searched");
  };
  const search = { findStranger, findNeighbour: findStranger, findIdle: findStranger };
  expect(decide({ ...placesOf(roomy), ...search }, opens)).toEqual({ kind: "admit" });
  expect(() => decide({ ...placesOf({}), ...search }, opens)).toThrow("searched");
});
