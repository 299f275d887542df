import { expect, test } from "vitest";
import { requestFor } from "../../testing/requests.ts";
import { PromptThreads } from "./prompt-threads.ts";
import { PromptRenderer } from "./render-prompt.ts";
import type { PromptModel } from "./render-prompt.ts";

const never = new AbortController().signal;

/** Every prompt of this renderer has two tokens. */
const twoTokens: PromptModel = {
  template: "{{ messages[0].content }}",
  specialTokens: [],
  bosToken: "",
  eosToken: "",
  tokenize: () => [1, 2],
};

const program = new URL("../../test/programs/mortal-prompts.ts", import.meta.url);

test.each([
  ["die", "out of memory"],
  ["leave", "the thread that makes prompts has ended"],
])("a thread that dies (%s) fails the prompt that killed it, and no other", async (word, why) => {
  const threads = await PromptThreads.start({ program, model: "" });
  const render = (say: string): Promise<unknown> => threads.render(requestFor({ say }), never);
  const deadly = render(word);
  const others = Promise.all([render("behind it"), render("and")]);
  await expect(deadly).rejects.toThrow(why);
  await expect(others).resolves.toMatchObject([{ tokens: [9] }, { tokens: [3] }]);
  await expect(render("abc")).resolves.toMatchObject({ tokens: [3] });
  await threads.close();
});

test("a prompt never waits for a much longer one", async () => {
  const threads = await PromptThreads.start({ program, model: "" });
  const done = new AbortController();
  const endless = [20_000, 300_000].map((length) =>
    threads.render(requestFor({ say: "endless".padEnd(length) }), done.signal),
  );
  const left = Promise.allSettled(endless);
  await expect(threads.render(requestFor({ say: "abc" }), never)).resolves.toMatchObject({ tokens: [3] });
  done.abort(new Error("left"));
  expect((await left).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await threads.close();
});

test.each([10_000, 20_000, 300_000])(
  "of keys that send prompts of %i characters, one with many does not keep the others waiting",
  async (characters) => {
    const threads = await PromptThreads.start({ program, model: "" });
    const gone = new AbortController();
    const finished: string[] = [];
    const render = (key: string, say: string, signal = never): Promise<unknown> =>
      threads
        .render({ ...requestFor({ say: say.padEnd(characters) }), origin: { key } }, signal)
        .then(() => void finished.push(key));
    const running = render("greedy", "endless", gone.signal);
    const waiting = Array.from({ length: 5 }, () => render("greedy", "abc"));
    const others = [render("b", "abc"), render("c", "abc")];
    gone.abort(new Error("left"));
    await expect(running).rejects.toThrow("left");
    await Promise.all([...waiting, ...others]);
    // The thread takes two jobs at a time, so one job of the greedy key was there before the others.
    expect(finished.slice(0, 3)).toEqual(expect.arrayContaining(["b", "c"]));
    await threads.close();
  },
);

test("an aborted prompt is not rendered, and rendering that has begun is stopped", async () => {
  const threads = await PromptThreads.start({ program, model: "" });
  const gone = new AbortController();
  const endless = Array.from({ length: 3 }, () => threads.render(requestFor({ say: "endless" }), gone.signal));
  const left = Promise.allSettled(endless);
  gone.abort(new Error("left"));
  expect((await left).map(({ status }) => status)).toEqual(Array.from({ length: 3 }, () => "rejected"));
  await expect(threads.render(requestFor({ say: "abc" }), never)).resolves.toMatchObject({ tokens: [3] });
  await threads.close();
});

test("the shortest prompts and texts are made at once, and the first longer one starts a thread", async () => {
  const here = new PromptRenderer(twoTokens);
  const threads = await PromptThreads.start({ program, model: "", here });
  const render = (say: string): Promise<unknown> => threads.render(requestFor({ say }), never);
  const owner = { keyId: "a", signal: never };
  await expect(render("die")).resolves.toMatchObject({ tokens: [1, 2] });
  await expect(threads.countText("abc", owner)).resolves.toBe(2);
  await expect(threads.render(requestFor({ say: "abc" }), never, 1)).rejects.toThrow("at least 2 tokens");
  await expect(render("abc".padEnd(1025))).resolves.toMatchObject({ tokens: [1025] });
  await threads.close();
});
