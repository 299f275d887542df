import { expect, test } from "vitest";
import { requestFor } from "../../testing/requests.ts";
import { PromptThreads } from "./prompt-threads.ts";

const program = new URL("../../test/programs/mortal-prompts.ts", import.meta.url);

test.each([
  ["die", "out of memory"],
  ["leave", "the thread that makes prompts has ended"],
])("a thread that dies (%s) fails what it was doing, and the next prompt has another one", async (word, why) => {
  const deaths: string[] = [];
  const threads = await PromptThreads.start({
    program,
    model: "",
    onDeath: ({ message }) => void deaths.push(message),
  });
  const render = (say: string): Promise<unknown> => threads.render(requestFor({ say }));
  await expect(Promise.all([render(word), render("behind it")])).rejects.toThrow(why);
  await expect(render("abc")).resolves.toMatchObject({ tokens: [3] });
  expect(deaths).toEqual([why]);
  await threads.close();
  expect(deaths).toEqual([why]);
});

test("long conversations have a thread of their own", async () => {
  const threads = await PromptThreads.start({ program, model: "", onDeath: () => undefined });
  const long = "x".repeat(300_000);
  await expect(threads.render(requestFor({ say: long }))).resolves.toMatchObject({ tokens: [300_000] });
  await threads.close();
});

test("a prompt that was made to be counted is not made again, unless something is different", async () => {
  const threads = await PromptThreads.start({ program, model: "", onDeath: () => undefined });
  const request = requestFor({ say: "abc" });
  const counted = await threads.render(request);
  const [shorter, thinking] = [
    { ...request, max_tokens: 1 },
    { ...request, isReasoning: true },
  ];
  expect(await threads.render(shorter)).toBe(counted);
  expect(await threads.render(thinking)).not.toBe(counted);
  expect(await threads.render(requestFor({ say: "abc" }))).not.toBe(counted);
  await threads.close();
});
