import { expect, test } from "vitest";
import { openWorkers } from "../testing/caching-workers.ts";
import { findAddresses } from "../src/remote/resolve-endpoints.ts";
import type { Lookup } from "../src/remote/resolve-endpoints.ts";
import { answerWell, open, start } from "../testing/remote-places.ts";
import { askOne } from "../testing/requests.ts";
import { until } from "../testing/until.ts";

/** Host names with several addresses, as headless Services have, on addresses of the loopback interface. */

const v4 = (...addresses: readonly string[]) => addresses.map((address) => ({ address, family: 4 }));
const say = (engine: Parameters<typeof askOne>[0], name: string) =>
  askOne(engine, { say: `I am ${name}. How do I read a block header?`, origin: { key: "k1" }, maxTokens: 8 });

test("each address of a name is an endpoint, and new and lost addresses are noticed", async () => {
  const { workers, add } = await openWorkers(0);
  const first = await add("127.0.0.1");
  const port = Number(new URL(first.url).port);
  await add("127.0.0.2", port);
  let addresses = ["127.0.0.1", "127.0.0.2"];
  const resolved: string[] = [];
  const lookup: Lookup = async (host) => {
    resolved.push(host);
    return v4(...addresses);
  };
  const place = { ...first, url: `http://workers.test:${port}` };
  const engine = await start([place], { lookup });
  for (let turn = 0; turn < 10; turn += 1) await say(engine, `customer ${turn}`);
  expect(workers.map(({ asked }) => asked > 1)).toEqual([true, true]);
  expect(first.requests.at(-1)?.headers.host).toBe(`workers.test:${port}`);
  expect(new Set(resolved)).toEqual(new Set(["workers.test"]));

  const third = await add("127.0.0.3", port);
  addresses = ["127.0.0.2", "127.0.0.3"];
  let turn = 10;
  await until("the new worker is asked", async () => {
    await say(engine, `customer ${(turn += 1)}`);
    return third.asked > 0;
  });
  const before = first.asked;
  for (let more = 0; more < 10; more += 1) await say(engine, `visitor ${more}`);
  expect(first.asked).toBe(before);
});

test("addresses that are gone for a while keep their conversations", async () => {
  const { add, takeCached } = await openWorkers(0);
  const first = await add("127.0.0.1");
  const port = Number(new URL(first.url).port);
  for (const host of ["127.0.0.2", "127.0.0.3"]) await add(host, port);
  let addresses = ["127.0.0.1", "127.0.0.2"];
  let lookups = 0;
  const lookup: Lookup = async () => {
    lookups += 1;
    return v4(...addresses);
  };
  const change = async (next: readonly string[]): Promise<void> => {
    addresses = [...next];
    const before = lookups;
    await until("the name was resolved twice", () => lookups >= before + 2);
  };
  const engine = await start([{ ...first, url: `http://workers.test:${port}` }], { lookup });
  const names = Array.from({ length: 20 }, (_, turn) => `customer ${turn} ${"who asks ".repeat(20)}`);
  for (const name of names) await say(engine, name);
  await change(["127.0.0.3"]);
  await change(["127.0.0.1", "127.0.0.2", "127.0.0.3"]);
  takeCached();
  for (const name of names) await say(engine, name);
  const { cached, shareable } = takeCached();
  expect(cached / shareable).toBeGreaterThanOrEqual(0.9);
});

test("an answer from an address that is gone is read to its end", async () => {
  const first = await open();
  let addresses = ["127.0.0.1"];
  const place = { ...first, url: first.url.replace("127.0.0.1", "workers.test") };
  let lookups = 0;
  const lookup: Lookup = async () => {
    lookups += 1;
    return v4(...addresses);
  };
  const engine = await start([place], { lookup });
  const held = Promise.withResolvers<() => void>();
  first.answer = (response, body, request) => held.resolve(() => answerWell(response, body, request));
  const asking = say(engine, "ann");
  const release = await held.promise;
  addresses = ["127.0.0.2"];
  const before = lookups;
  await until("the name was resolved twice", () => lookups >= before + 2);
  release();
  expect((await asking).text).toBe("abcdefgh");
});

test("a name that cannot be resolved for a while keeps its endpoints", async () => {
  const place = await open();
  let isBroken = false;
  let failures = 0;
  const lookup: Lookup = async () => {
    if (!isBroken) return v4("127.0.0.1");
    failures += 1;
    throw Object.assign(new Error("getaddrinfo EAI_AGAIN"), { code: "EAI_AGAIN" });
  };
  const engine = await start([{ ...place, url: place.url.replace("127.0.0.1", "workers.test") }], { lookup });
  isBroken = true;
  await until("it was resolved again", () => failures > 1);
  expect((await say(engine, "ann")).text).toBe("abcdefgh");
});

const v6 = (...addresses: readonly string[]) => addresses.map((address) => ({ address, family: 6 }));
const many = Array.from({ length: 300 }, (_, index) => `10.0.${Math.floor(index / 250)}.${index % 250}`);

test.each<[string, string, ReturnType<typeof v4>, readonly string[] | undefined]>([
  ["one address, which may change", "http://a.test", v4("10.0.0.1"), ["10.0.0.1"]],
  ["several, in an order that does not change", "http://a.test", v4("10.0.0.2", "10.0.0.1"), ["10.0.0.1", "10.0.0.2"]],
  ["repeated addresses", "http://a.test", v4("10.0.0.1", "10.0.0.1"), ["10.0.0.1"]],
  ["one of each kind: one server", "http://a.test", [...v6("::1"), ...v4("127.0.0.1")], undefined],
  [
    "two of each kind: two servers",
    "http://a.test",
    [...v6("::1", "::2"), ...v4("1.1.1.1", "1.1.1.2")],
    ["1.1.1.1", "1.1.1.2"],
  ],
  ["only the newer kind", "http://a.test", v6("::2", "::1"), ["::1", "::2"]],
  ["TLS: a load balancer", "https://a.test", v4("10.0.0.1", "10.0.0.2"), undefined],
  ["an address", "http://10.0.0.9:8000", [], undefined],
  ["an address in brackets", "http://[::1]:8000", [], undefined],
])("a base URL with %s", async (_title, url, found, want) => {
  expect(await findAddresses(url, async () => found)).toEqual(want);
});

test("a name with very many addresses is used with 64 of them", async () => {
  expect(await findAddresses("http://a.test", async () => v4(...many))).toHaveLength(64);
});
