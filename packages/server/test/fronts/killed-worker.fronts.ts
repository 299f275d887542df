import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { miniFolder } from "@parley/inference/testing";
import { openPlace } from "@parley/inference/testing/places";
import { knownFronts, missingOf } from "@parley/inference/testing/fronts";
import { startFront } from "@parley/inference/testing/vllm";
import { miniId, say, startTestServer, until } from "@parley/server/testing";

/** Streams through a real router over two stand-in workers, one of which is killed while all of them run. */

const streams = 500;
const letters = Buffer.from("abcdefgh");

/** Eight tokens in four seconds. */
async function slowly(response: ServerResponse): Promise<void> {
  for (const [index, letter] of letters.entries()) {
    if (response.destroyed) return;
    const finish_reason = index === letters.length - 1 ? "length" : null;
    const usage = { prompt_tokens: 9, completion_tokens: index + 1 };
    response.write(`data: ${JSON.stringify({ choices: [{ token_ids: [letter], finish_reason }], usage })}\n\n`);
    await wait(500);
  }
  response.end("data: [DONE]\n\n");
}

const front = knownFronts.find(({ name }) => name === "vllm-router");
const missing = front && missingOf(front);
if (missing !== undefined) console.warn(`vllm-router was not run: ${missing}`);

test.skipIf(missing !== undefined)(
  `none of ${streams} streams is cut in silence, and the ledger has what was delivered`,
  async () => {
    const places = await Promise.all([0, 1].map(() => openPlace((response) => void slowly(response))));
    for (const place of places) place.listed = { id: miniId };
    if (!front) throw new Error("the table of fronts has vllm-router");
    const wide = ["--max-concurrent-requests", "2000", "--queue-size", "2000"];
    const args = [...(front.policies["consistent_hash-tuned"] ?? []), ...wide];
    await using router = await startFront(
      front,
      places.map(({ url }) => url),
      args,
    );
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
    await wait(2500);
    await places[0]?.stop();
    const seen = await Promise.all(reading);
    const failed = seen.filter(({ hasFailed }) => hasFailed);
    process.stdout.write(`${failed.length} of ${streams} streams ended with an error, the others whole\n`);
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
