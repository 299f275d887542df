import { expect, test } from "vitest";
import type { components } from "@parley/contract/types";
import type { ScriptStep } from "@parley/inference";
import { modelId, play, until } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

type Receipt = components["schemas"]["Receipt"];

const role: ScriptStep = { role: true };
const server = useServer({
  scenarios: {
    short: [role, { text: "Hello" }, { text: " you" }, { finish: "stop" }],
    endless: [role, { repeat: 100_000, steps: [{ text: "a" }, { wait_ms: 5 }] }],
    late: [role, { text: "a" }, { text: "b" }, { die: true }],
  },
});

async function receiptOf(response: Response): Promise<Receipt> {
  const answer = await server().fetch(`/usage/${response.headers.get("x-request-id")}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Receipt; // the test server checks it against the contract
}

/** The record of a stream is closed a moment after its last byte. */
const closed = (response: Response): Promise<Receipt> =>
  until(
    () => receiptOf(response),
    ({ outcome }) => outcome !== "open",
  );

test("ACCT-01 the receipt of an answer has its usage, prices and cost", async () => {
  const response = await server().chat(play("short"));
  const { cost_usd, ...usage } = ((await response.json()) as components["schemas"]["ChatCompletion"]).usage;
  const receipt = await closed(response);
  const id = response.headers.get("x-request-id");
  expect(receipt).toMatchObject({ object: "receipt", id, model: modelId, stream: false, outcome: "complete" });
  expect(receipt).toMatchObject({ usage, cost_usd });
  expect(receipt).not.toHaveProperty("error_code");
  expect(Date.parse(receipt.ended_at ?? "")).toBeGreaterThanOrEqual(Date.parse(receipt.started_at));
  const { models } = server().running;
  expect(receipt.pricing).toEqual(models.find((model) => model.id === modelId)?.pricing);
});

test("ACCT-01 the receipt of a stream has the usage of its last event", async () => {
  const response = await server().chat({ ...play("short"), stream: true, stream_options: { include_usage: true } });
  const last = (await response.text()).split("\n\n").findLast((event) => event.includes('"usage":{')) ?? "";
  const { usage } = JSON.parse(last.slice("data: ".length)) as Pick<components["schemas"]["ChatCompletion"], "usage">;
  const { cost_usd, ...tokens } = usage;
  expect(await closed(response)).toMatchObject({ stream: true, outcome: "complete", usage: tokens, cost_usd });
});

test("a request that runs has an open receipt, and one that was left says what it cost", async () => {
  const leave = new AbortController();
  const response = await server().chat({ ...play("endless"), stream: true }, { signal: leave.signal });
  const open = await receiptOf(response);
  expect(open).toMatchObject({ outcome: "open", cost_usd: "0" });
  expect(open).not.toHaveProperty("ended_at");
  leave.abort();
  const receipt = await closed(response);
  expect(receipt.outcome).toBe("cancelled");
  expect(Number(receipt.cost_usd)).toBeGreaterThan(0);
});

test("OPS-17 the receipt of a stream that failed names the error and costs nothing", async () => {
  const response = await server().chat({ ...play("late"), stream: true });
  await response.text();
  const receipt = await closed(response);
  expect(receipt).toMatchObject({ outcome: "failed", error_code: "upstream_error", cost_usd: "0" });
  expect(receipt.usage.completion_tokens).toBeGreaterThan(0);
});
