import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { miniFolder } from "@parley/inference/testing";
import { openPlace } from "@parley/inference/testing/places";
import { knownFronts, missingOf } from "@parley/inference/testing/fronts";
import { startFront } from "@parley/inference/testing/vllm";
import { miniId, say, startTestServer, until } from "@parley/server/testing";

/** Streams through a real router over two stand-in workers, one of which is killed while all of them run. */

const streams = 500;
const letters = Buffer.from("abcdefgh");

/** Writes half of an answer, and the other half when the test goes on. */
async function writeHalves(response: ServerResponse, goOn: Promise<void>): Promise<void> {
  for (const [index, letter] of letters.entries()) {
    if (index === letters.length / 2) await goOn;
    if (response.destroyed) return;
    const finish_reason = index === letters.length - 1 ? "length" : null;
    const usage = { prompt_tokens: 9, completion_tokens: index + 1 };
    response.write(`data: ${JSON.stringify({ choices: [{ token_ids: [letter], finish_reason }], usage })}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}

/** Opens two workers, which count the streams that each has begun. */
async function openPlaces() {
  const { promise: goOn, resolve: release } = Promise.withResolvers<void>();
  const begun = [0, 0];
  const open = (index: number) =>
    openPlace((response, body) => {
      const isStream = body.includes(`"max_tokens":${letters.length}`); // a probe wants one token
      if (isStream) begun[index] = (begun[index] ?? 0) + 1;
      void writeHalves(response, isStream ? goOn : Promise.resolve());
    });
  const [first, second] = await Promise.all([open(0), open(1)]);
  for (const place of [first, second]) place.listed = { id: miniId };
  return { first, urls: [first.url, second.url], begun, release };
}

const front = knownFronts.find(({ name }) => name === "vllm-router");
const missing = front && missingOf(front);
if (missing !== undefined) console.warn(`vllm-router was not run: ${missing}`);

test.skipIf(missing !== undefined)(
  `none of ${streams} streams is cut in silence, and the ledger has what was delivered`,
  async () => {
    const { first, urls, begun, release } = await openPlaces();
    if (!front) throw new Error("the table of fronts has vllm-router");
    const wide = ["--max-concurrent-requests", "2000", "--queue-size", "2000"];
    const args = [...(front.policies["consistent_hash-tuned"] ?? []), ...wide];
    await using router = await startFront(front, urls, args);
    const remote = { urls: router.urls, model: miniId, tokenizer: miniFolder, front: "vllm-router" } as const;
    const models = { "model-1-mini": { engine: "remote", slots: streams, remote } } as const;
    await using server = await startTestServer({ settings: { models } });
    const read = async (index: number) => {
      const body = { model: miniId, stream: true, max_completion_tokens: 8, ...say(`Conversation ${index}`) };
      const response = await server.chat({ ...body, prompt_cache_key: `c${index}` });
      const text = await response.text();
      const delivered = Array.from(text.matchAll(/"content":"([a-h]+)"/g), ([, part = ""]) => part).join("");
      return {
        id: response.headers.get("x-request-id") ?? "",
        isWhole: text.includes("data: [DONE]"),
        hasFailed: /"error":\{/.test(text),
        delivered: delivered.length,
      };
    };
    const reading = Array.from({ length: streams }, (_none, index) => read(index));
    await until(
      () => begun,
      ([first = 0, second = 0]) => first + second === streams,
      60_000,
    );
    await first.stop();
    release();
    const seen = await Promise.all(reading);
    const failed = seen.filter(({ hasFailed }) => hasFailed);
    process.stdout.write(`${failed.length} of ${streams} streams ended with an error, the others whole\n`);
    expect(failed.length).toBe(begun[0]);
    expect(failed.length).toBeGreaterThan(streams / 5);
    expect(failed.length).toBeLessThan(streams);
    // Each has one end: an error, or [DONE].
    expect(seen.filter(({ isWhole, hasFailed }) => isWhole === hasFailed)).toEqual([]);
    const entries = await until(
      () => server.ledger(),
      (all) => all.every(({ outcome }) => outcome !== "open"),
    );
    const rows = new Map(entries.map((row) => [row.id, row]));
    expect(rows.size).toBe(streams);
    const shown = seen.map(({ id, delivered, isWhole }) => [id, delivered, isWhole ? "complete" : "failed"]);
    expect(shown.map(([id]) => [id, rows.get(String(id))?.completion_tokens, rows.get(String(id))?.outcome])).toEqual(
      shown,
    );
    expect(failed.every(({ id }) => rows.get(id)?.cost_usd === "0")).toBe(true);
  },
  120_000,
);
