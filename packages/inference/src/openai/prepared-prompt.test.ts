import { expect, test } from "vitest";
import { collectGarbage } from "../../testing/collect-garbage.ts";
import { requestFor } from "../../testing/requests.ts";
import { miniFolder } from "../../testing/start-scripted-vllm.ts";
import type { EngineRequest, PreparedPrompt } from "../engine.ts";
import { openModel } from "../model-folder/open-model.ts";
import type { EventBatches } from "../wire/connection.ts";
import { prepareChat } from "./chat/prepare-chat.ts";
import { completionsAdapter } from "./completions/completions-adapter.ts";
import type { ServedModel } from "./protocol-adapter.ts";

const signal = new AbortController().signal;
const model = await openModel(miniFolder);

/** An upstream that sends one token, and then nothing. */
const served = (events: string): ServedModel => ({
  model,
  servedName: "there",
  saltOf: undefined,
  upstream: {
    open: async () => oneBatch([events]),
    read: async () => "",
    hasChoice: false,
    ejected: 0,
    close: async () => undefined,
  },
});

async function* oneBatch(events: readonly string[]): EventBatches {
  yield events;
  await new Promise(() => undefined);
}

const token = JSON.stringify({ choices: [{ index: 0, token_ids: [40], text: "I", finish_reason: null }] });
const delta = JSON.stringify({ choices: [{ index: 0, delta: { content: "I" }, finish_reason: null }] });

/** Prepares a request whose messages only the prompt holds. */
async function prepare(
  begin: (request: EngineRequest) => Promise<PreparedPrompt>,
): Promise<{ readonly prompt: PreparedPrompt; readonly messages: WeakRef<object> }> {
  const messages = [{ role: "user" as const, content: "Hello" }];
  const prompt = await begin({ ...requestFor({}), messages });
  return { prompt, messages: new WeakRef(messages) };
}

/** Renders prompts whose tokens only their owner holds. */
function watchTokens(): WeakRef<object>[] {
  const seen: WeakRef<object>[] = [];
  // Not a spy of the test runner, which would hold the tokens and the messages itself.
  model.prompts.render = async () => {
    const tokens = [1, 2, 3];
    seen.push(new WeakRef(tokens));
    return { tokens, opensInReasoning: false };
  };
  return seen;
}

const alive = (refs: readonly WeakRef<object>[]): number => refs.filter((one) => one.deref() !== undefined).length;

test("as token ids: the messages go when the prompt is rendered, and its tokens when they are sent", async () => {
  const tokens = watchTokens();
  const { prompt, messages } = await prepare((asked) => completionsAdapter.prepare(served(token), asked, signal));
  expect(prompt.tokens).toBe(3);
  await collectGarbage();
  expect([alive([messages]), alive(tokens)]).toEqual([0, 1]);
  const events = prompt.stream(requestFor({}));
  expect((await events.next()).done).toBe(false);
  await collectGarbage();
  expect(alive(tokens)).toBe(0);
  void events;
});

test("as messages: the tokens go when they are counted, and the messages when they are sent", async () => {
  const tokens = watchTokens();
  const { capabilities } = model.folder;
  const dialect = {
    isVllm: true,
    capabilities,
    isSalted: false,
    hasReasoningSwitch: true,
    systemPlacement: "in place",
  } as const;
  const { prompt, messages } = await prepare((asked) => prepareChat({ ...served(delta), dialect }, asked, signal));
  expect(prompt.tokens).toBe(3);
  await collectGarbage();
  expect([alive([messages]), alive(tokens)]).toEqual([1, 0]);
  const events = prompt.stream(requestFor({}));
  expect((await events.next()).done).toBe(false);
  await collectGarbage();
  expect(alive([messages])).toBe(0);
  void events;
});
