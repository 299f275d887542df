import { expect, test } from "vitest";
import type { EndpointAttempt } from "../src/index.ts";
import type { RemoteOptions } from "../src/remote/remote-engine.ts";
import { answerWell, ask, open, refuse, start, tokens } from "../testing/remote-places.ts";
import type { Answer, Place } from "../testing/remote-places.ts";

/** The ends of generations that each endpoint was asked for, as metrics count them. */

/** Starts an engine, and returns the attempts after it is ready. The last probe may end after that. */
async function watch(places: readonly Pick<Place, "url">[], changes: Partial<RemoteOptions> = {}) {
  const attempts: EndpointAttempt[] = [];
  const engine = await start(places, { onAttempt: (attempt) => void attempts.push(attempt), ...changes });
  attempts.length = 0;
  const seen = (): string[] => attempts.map(({ endpoint, outcome }) => `${endpoint} ${outcome}`);
  return { engine, attempts, seen };
}

test("an answer has the time to its first event", async () => {
  const place = await open();
  const { engine, attempts } = await watch([place]);
  place.answer = (response, body, request) => void setTimeout(() => answerWell(response, body, request), 60);
  expect(await ask(engine)).toBe("abcdefgh");
  const [slowest] = attempts.toSorted((a, b) => (b.firstEventMs ?? 0) - (a.firstEventMs ?? 0));
  expect(slowest).toMatchObject({ endpoint: place.url, outcome: "answered" });
  // Timers may fire a millisecond early.
  expect(slowest?.firstEventMs).toBeGreaterThan(55);
});

const breakOff: Answer = (response) => void response.write(tokens(2, null), () => response.destroy());

test.each<[string, Answer, string, string, boolean]>([
  ["that breaks off has failed, after its first event", breakOff, "ab(crashed)", "failed", true],
  ["that refuses one request has not failed", refuse(400, '{"message": "no"}'), "(rejected)", "refused", false],
  ["that refuses every request has failed", refuse(500, "{}"), "(crashed)", "failed", false],
  ["that says nothing has failed", () => undefined, "(stalled)", "failed", false],
])("an endpoint %s", async (_title, answer, said, outcome, hasBegun) => {
  const place = await open();
  const { engine, attempts } = await watch([place]);
  place.answer = answer;
  expect(await ask(engine)).toBe(said);
  // Probes may follow a failure, and that of the start may end late.
  const found = attempts.find((attempt) => attempt.outcome === outcome);
  expect(found?.endpoint).toBe(place.url);
  expect(found?.firstEventMs !== undefined).toBe(hasBegun);
});

test("a request that a second endpoint answers counts for both", async () => {
  const [full, free] = [await open(), await open()];
  const { engine, seen } = await watch([full, free]);
  full.answer = refuse(503, "{}");
  const failed = `${full.url} failed`;
  for (let turn = 0; turn < 4 && !seen().includes(failed); turn += 1) expect(await ask(engine)).toBe("abcdefgh");
  expect(seen().slice(seen().indexOf(failed))).toContain(`${free.url} answered`);
});

test("a request whose caller has left does not count against the endpoint", async () => {
  const place = await open();
  const { engine, seen } = await watch([place]);
  const hangUp = new AbortController();
  place.answer = () => hangUp.abort();
  await ask(engine, hangUp.signal);
  expect(seen()).toContain(`${place.url} cancelled`);
});

test("an endpoint is named by its URL without credentials, and by the address of its name", async () => {
  const place = await open();
  const url = `${place.url.replace("127.0.0.1", "someone:secret@workers.test")}/openai/`;
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  const { engine, seen } = await watch([{ url }], { lookup });
  expect(await ask(engine)).toBe("abcdefgh");
  const port = new URL(place.url).port;
  expect(seen()).toContain(`http://workers.test:${port}/openai (127.0.0.1) answered`);
});
