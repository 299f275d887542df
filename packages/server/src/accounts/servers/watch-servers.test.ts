import { pino } from "pino";
import { expect, test } from "vitest";
import type { RegisteredServer, ServerFacts, ServerRegister } from "./server-register.ts";
import { compareOffers, describeDifference, watchServers } from "./watch-servers.ts";

type Offers = ServerFacts["offers"];
const limits = { PARLEY_REQUESTS_PER_MINUTE: "10" };
const offer = { "pricing.prompt": "0.1", context_length: "32768" };
const plain: Offers = { "": limits, "vendor/model-1": offer };
const factsOf = (offers: Offers): ServerFacts => ({ offers, engines: {} });

test.each<[string, Offers, string[]]>([
  ["nothing", plain, []],
  [
    "a price",
    { ...plain, "vendor/model-1": { ...offer, "pricing.prompt": "0.2" } },
    ["vendor/model-1 pricing.prompt: 0.1 here, 0.2 there"],
  ],
  [
    "a context length",
    { ...plain, "vendor/model-1": { ...offer, context_length: "8192" } },
    ["vendor/model-1 context_length: 32768 here, 8192 there"],
  ],
  ["a context length that is not known yet", { ...plain, "vendor/model-1": { "pricing.prompt": "0.1" } }, []],
  [
    "a default limit",
    { ...plain, "": { PARLEY_REQUESTS_PER_MINUTE: "20" } },
    ["PARLEY_REQUESTS_PER_MINUTE: 10 here, 20 there"],
  ],
  ["a model that the other lacks", { "": limits }, ["vendor/model-1 model: offered here, not offered there"]],
  [
    "a model that the other has",
    { ...plain, "vendor/model-2": offer },
    ["vendor/model-2 model: not offered here, offered there"],
  ],
])("servers that differ in %s", (_what, other, wanted) => {
  expect(compareOffers(factsOf(plain), factsOf(other)).map(describeDifference)).toEqual(wanted);
});

test("a difference is logged once per change, with its end", () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  let read = (): void => undefined;
  const register: ServerRegister & { live: readonly RegisteredServer[] } = {
    ownId: "own",
    live: [],
    enter: async () => undefined,
    onRead: (listener) => (read = listener),
  };
  const counts = watchServers(register, log);
  const look = (prompt: string): string[] => {
    const serverOf = (id: string, price: string): RegisteredServer => ({
      id,
      name: `host-${id}`,
      version: "1.0.0",
      startedMs: 0,
      facts: factsOf({ ...plain, "vendor/model-1": { ...offer, "pricing.prompt": price } }),
    });
    register.live = [serverOf("own", "0.1"), serverOf("same", "0.1"), serverOf("other", prompt)];
    read();
    return lines.splice(0).map((line) => (JSON.parse(line) as { msg: string }).msg); // our own line
  };
  expect(counts).toMatchObject({ live: 0, differing: 0 });
  expect(look("0.1")).toEqual([]);
  expect(look("0.2")).toEqual([
    "the server host-other has other prices or limits than this one: vendor/model-1 pricing.prompt: 0.1 here, 0.2 there",
  ]);
  expect(counts).toMatchObject({ live: 3, differing: 1 });
  expect(look("0.2")).toEqual([]);
  expect(look("0.3")).toHaveLength(1);
  expect(look("0.1")).toEqual(["all servers have the same prices and limits again"]);
  expect(counts).toMatchObject({ live: 3, differing: 0 });
});
