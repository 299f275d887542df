import { expect, test } from "vitest";
import type { AuditRecord } from "../../src/accounts/audit/audit-log.ts";
import { maxPerMinute, RefusedAttempts } from "../../src/accounts/manage/refused-attempts.ts";
import { openState } from "../../src/state/open-state.ts";
import { useFolder } from "../use-folder.ts";

const folder = useFolder();
const minuteMs = 60_000;

const record = (atMs: number): AuditRecord => ({
  atMs,
  actor: { kind: "unknown", name: "" },
  from: { address: "127.0.0.1", agent: "" },
  action: "authenticate",
  target: {},
  outcome: "refused",
  reason: "wrong",
  attempts: 1,
});

test("attempts that come together at the end of a minute are each counted once", async () => {
  using state = openState(folder.fresh());
  const refused = new RefusedAttempts(state, (error) => expect.unreachable(String(error)));
  const further = 7;
  const flood = (minute: number): Promise<unknown> =>
    Promise.all(Array.from({ length: maxPerMinute + further }, () => refused.note(record(minute * minuteMs))));
  for (let minute = 1; minute <= 3; minute += 1) await flood(minute);
  await refused[Symbol.asyncDispose]();
  const entries = await state.audit.read({}, 1000);
  for (let minute = 1; minute <= 3; minute += 1) {
    const own = entries.filter(({ atMs }) => atMs === minute * minuteMs).map(({ attempts }) => attempts);
    expect(own.toSorted((a, b) => a - b)).toEqual([...Array.from({ length: maxPerMinute }, () => 1), further]);
  }
});

test("attempts of another kind have entries of their own", async () => {
  using state = openState(folder.fresh());
  const refused = new RefusedAttempts(state, (error) => expect.unreachable(String(error)));
  for (const kind of ["a", "b"])
    for (let tries = 0; tries < maxPerMinute; tries += 1) await refused.note(record(1), kind);
  expect(await state.audit.read({}, 1000)).toHaveLength(2 * maxPerMinute);
  await refused[Symbol.asyncDispose]();
});
