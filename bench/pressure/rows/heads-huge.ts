import { ask } from "../ask.ts";
import { bound } from "../row.ts";
import type { Row } from "../row.ts";
import { repeatedly, Tally } from "../sockets.ts";

const shapes = [
  Object.fromEntries(Array.from({ length: 90 }, (_none, index) => [`x-${index}`, "y".repeat(150)])),
  Object.fromEntries(Array.from({ length: 1500 }, (_none, index) => [`x-${index}`, "y"])),
  { cookie: "z".repeat(60_000) },
];

export const headsHuge: Row = {
  name: "heads/huge",
  action: "without a key: heads of 15 KB, of 1,500 fields and of 60 KB, eight at a time",
  engine: "scripted",
  attack: async ({ target, signal }) => {
    const answers = new Tally();
    let turn = 0;
    await repeatedly(8, signal, async () => {
      const headers = shapes[(turn += 1) % shapes.length] ?? {};
      answers.add((await ask({ url: `${target.origin}/v1/models`, headers })).status);
    });
    return [bound("only 401 and 431", answers.holdsOnly(401, 431), String(answers))];
  },
};
