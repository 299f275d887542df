import { expect, test } from "vitest";
import { LongPromptNotice } from "./logits-processors.ts";

test("makes its tokens certain, one after the other, and then has no effect", () => {
  const notice = new LongPromptNotice([5, 6]);
  const certain: (number | undefined)[] = [];
  for (const token of [5, 6, 7]) {
    certain.push(notice.certainToken(false));
    notice.accept(token);
  }
  expect(certain).toEqual([5, 6, undefined]);
});

test("waits for tokens that the form of the answer demands before it", () => {
  const notice = new LongPromptNotice([5]);
  notice.accept(9);
  expect(notice.certainToken(false)).toBe(5);
});

test("has no effect under a grammar", () => expect(new LongPromptNotice([5]).certainToken(true)).toBeUndefined());
