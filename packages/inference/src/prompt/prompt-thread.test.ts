import { afterEach, expect, test } from "vitest";
import { requestFor } from "../../testing/requests.ts";
import { cellsOf } from "../../testing/cells-of.ts";
import { until } from "../../testing/until.ts";
import { NotBegunError, PromptThread, states } from "./prompt-thread.ts";
import type { WantedPrompt } from "./prompt-worker.ts";
import { routeOf } from "./prompt-threads.ts";

const program = new URL("../../test/programs/mortal-prompts.ts", import.meta.url);

interface Started {
  readonly thread: PromptThread;
  readonly deaths: () => number;
  readonly render: (say: string) => Promise<unknown>;
  /** A job that never ends by itself. */
  readonly endless: () => Promise<unknown>;
}

const running: PromptThread[] = [];
afterEach(() => Promise.all(running.splice(0).map((thread) => thread.close())));

async function start(): Promise<Started> {
  let deaths = 0;
  const thread = await PromptThread.start(program, "", () => void (deaths += 1));
  running.push(thread);
  const wanted = (say: string): WantedPrompt => ({ request: { ...requestFor({ say }), tools: "[]" }, maxTokens: 100 });
  const render = (say: string): Promise<unknown> => thread.render(wanted(say));
  const endless = (): Promise<unknown> => thread.renderUnless(new AbortController().signal, wanted("endless"));
  return { thread, deaths: () => deaths, render, endless };
}

async function dead(): Promise<Started> {
  const started = await start();
  await expect(started.render("die")).rejects.toThrow("out of memory");
  return started;
}

/** A job whose thread has answered it, although our event loop has not seen the answer yet. */
async function answered(say: string): Promise<Started & { readonly job: Promise<unknown> }> {
  const started = await start();
  await started.render("warm");
  const job = started.render(say);
  const end = performance.now() + 100;
  while (performance.now() < end);
  return { ...started, job };
}

/** One run for each cell of the table. */
const runs: Record<string, () => Promise<void>> = {
  "idle job → working, working lastAnswer → idle": async () => {
    const { render } = await start();
    await expect(render("abc")).resolves.toMatchObject({ tokens: [3] });
    await expect(render("ab")).resolves.toMatchObject({ tokens: [2] });
  },
  "working job → working, working answer → working": async () => {
    const { render } = await start();
    const all = Promise.all([render("abc"), render("a"), render("ab")]);
    await expect(all).resolves.toMatchObject([{ tokens: [3] }, { tokens: [1] }, { tokens: [2] }]);
  },
  "idle answer → idle": async () => {
    const { render } = await start();
    await render("twice");
    await expect(render("abc")).resolves.toMatchObject({ tokens: [3] });
  },
  "idle exit → dead": async () => {
    const { render, deaths } = await start();
    await render("leave soon");
    await until("the thread has died", () => deaths() === 1);
  },
  "idle close → closed": async () => (await start()).thread.close(),
  "working exit → dead": async () => {
    const { render, deaths } = await start();
    const [begun, other] = [render("die"), render("abc")];
    await expect(begun).rejects.toThrow("out of memory");
    await expect(other).rejects.toBeInstanceOf(NotBegunError);
    expect(deaths()).toBe(1);
  },
  "working close → closed, closed exit → closed": async () => {
    const { thread, endless, deaths } = await start();
    const [result] = await Promise.allSettled([endless(), thread.close()]);
    expect(result).toMatchObject({ status: "rejected", reason: { message: "the engine was closed" } });
    expect(deaths()).toBe(0);
  },
  "dead job → dead": async () => {
    const { render } = await dead();
    await expect(render("abc")).rejects.toBeInstanceOf(NotBegunError);
  },
  "dead close → dead": async () => (await dead()).thread.close(),
  "closed job → closed": async () => {
    const { thread, render } = await start();
    const closed = thread.close();
    await expect(render("abc")).rejects.toThrow("the engine was closed");
    await closed;
    await expect(render("abc")).rejects.toThrow("the engine was closed");
  },
  "closed close → closed": async () => {
    const { thread } = await start();
    await Promise.all([thread.close(), thread.close()]);
  },
  // A job that is open while its thread is closed has its answer, or an error: it does not wait for ever.
  "closed lastAnswer → closed": async () => {
    const { thread, job } = await answered("abc");
    const settled = Promise.allSettled([job]);
    await thread.close();
    expect(await settled).toHaveLength(1);
  },
  "closed answer → closed": async () => {
    const { thread, job, render } = await answered("abc");
    const settled = Promise.allSettled([job, render("abcd")]);
    await thread.close();
    expect(await settled).toHaveLength(2);
  },
};

test.each(Object.keys(runs))("%s: the event has its action in this state", async (cells) => {
  await expect(runs[cells]?.()).resolves.toBeUndefined();
});

test("the runs above are the whole table, and every other pair is impossible", () => {
  const shown = Object.keys(runs).flatMap((key) => key.split(", "));
  expect(shown.toSorted()).toEqual(cellsOf(states).toSorted());
});

test.each([
  [1025, "short", false],
  [4096, "short", false],
  [4097, "short", true],
  [16_384, "short", true],
  [16_385, "long", true],
  [262_144, "long", true],
  [262_145, "huge", true],
])(
  "a text of %i characters goes to the %s thread, and its work can be stopped: %s",
  (characters, size, isStoppable) => {
    expect(routeOf(characters)).toMatchObject({ size, isStoppable });
  },
);
