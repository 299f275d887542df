import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { declaredStatuses, findShallows, membersOfRequest, readFloors } from "../depth.ts";
import { addRecord, newTally } from "../record.ts";
import type { Tally } from "../record.ts";

const answer = (line: object): object => ({ operation: "createChatCompletion", status: 200, ms: 5, ...line });

const { scripted, unreachable } = readFloors();
const members = membersOfRequest();
const least = { ...scripted, answers: 2 * members.length };

/** Lines of a record that just reaches the floors: half accepted, half of those streamed, every member and every status. */
function deepLines(): object[] {
  const half = members.length;
  const statuses = declaredStatuses("public").filter(([operation, status]) => !unreachable[operation]?.[status]);
  return [
    ...Array.from({ length: half }, (_, index) => answer({ isStream: index % 2 === 0, taken: members })),
    ...Array.from({ length: half }, (_, index) => answer({ status: 400, refused: members[index % members.length] })),
    ...statuses.map(([operation, status]) => ({ operation, status: Number(status), ms: 5 })),
  ];
}

async function tallyOf(lines: readonly object[], rest = ""): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), "parley-depth-"));
  try {
    const file = join(folder, "record.ndjson");
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join("") + rest);
    const tally = newTally();
    await addRecord(tally, file);
    return tally;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const shallows = async (lines: readonly object[]): Promise<string[]> => findShallows(await tallyOf(lines), least);

describe("the depth meter", () => {
  test("is content with a run that is deep", async () => {
    expect(await shallows(deepLines())).toEqual([]);
  });

  test("counts a record whose last line was cut off", async () => {
    expect((await tallyOf(deepLines(), '{"operation": "createCh')).answers).toBe(deepLines().length);
  });

  test.each([
    ["nothing was sent", (): object[] => [], "answers: 0, and the floor is"],
    [
      "everything stops at the key",
      (line: object): object[] => [{ ...line, status: 401, taken: undefined }],
      "share of requests taken: 0",
    ],
    [
      "nothing is streamed",
      (line: object): object[] => [{ ...line, isStream: false }],
      "share of taken requests streamed: 0",
    ],
  ])("fails where %s", async (_title, change, complaint) => {
    expect(await shallows(deepLines().flatMap(change))).toContainEqual(expect.stringContaining(complaint));
  });

  test.each(members)("fails where %s was never taken, or never refused", async (member) => {
    const lines = deepLines().filter((line) => !("refused" in line && line.refused === member));
    expect(await shallows(lines)).toContain(`the member ${member} was never refused`);
    const untaken = deepLines().map((line) =>
      "taken" in line ? { ...line, taken: members.filter((one) => one !== member) } : line,
    );
    expect(await shallows(untaken)).toContain(`the member ${member} was never taken`);
  });

  test("fails where a declared status was never seen", async () => {
    const lines = deepLines().filter((line) => !("status" in line && line.status === 429));
    expect(await shallows(lines)).toEqual(["createChatCompletion never answered 429"]);
  });

  test("knows every member of the request, also those that only one role or kind has", () => {
    expect(members).toEqual(
      expect.arrayContaining([
        "model",
        "messages[].content[].text",
        "messages[].tool_call_id",
        "tool_choice.function.name",
      ]),
    );
  });

  test("lists as unreachable only what the contract declares, each with a reason", () => {
    const pairs = [...declaredStatuses("public"), ...declaredStatuses("admin")];
    const declared = pairs.map(([operation, status]) => `${operation} ${status}`);
    for (const [, status] of declaredStatuses("admin")) declared.push(`admin ${status}`);
    for (const [operation, statuses] of Object.entries(unreachable)) {
      for (const [status, reason] of Object.entries(statuses)) {
        expect(declared).toContain(`${operation} ${status}`);
        expect(reason.length).toBeGreaterThan(20);
      }
    }
  });
});
