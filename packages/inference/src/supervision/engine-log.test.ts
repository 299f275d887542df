import { expect, test } from "vitest";
import { LogTail } from "./engine-log.ts";

test("keeps the last lines, and finds the last one that is not blank", () => {
  const log = new LogTail(3);
  expect([log.lines, log.last]).toEqual([[], ""]);
  for (const line of ["a", "b", "c", "d", "  "]) log.push(line);
  expect([log.lines, log.last]).toEqual([["c", "d", "  "], "d"]);
  log.startProcess();
  expect([log.lines, log.latest, log.last]).toEqual([["c", "d", "  "], [], ""]);
  log.push("e");
  expect([log.lines, log.latest, log.last]).toEqual([["d", "  ", "e"], ["e"], "e"]);
});
