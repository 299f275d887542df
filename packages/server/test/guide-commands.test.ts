import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GuideSession, readShellCommands } from "./guide-session.ts";

/** Runs the shell commands of operators' guides, each guide in a folder of its own, with the scripted engine. */

const guides = join(import.meta.dirname, "../../../docs/guides");
const textOf = (name: string): string => readFileSync(join(guides, `${name}.md`), "utf8");

interface Guide {
  readonly name: string;
  /** True if a server runs before the first command. The guides about starting start it themselves. */
  readonly isStarted: boolean;
  /** Commands that come before those of the guide. */
  readonly before?: readonly string[];
  /** Commands that cannot run here, each with the reason. */
  readonly skipped?: readonly (readonly [command: RegExp, reason: string])[];
}

const createKey = 'parley keys create --name "partner A"';

const tried: readonly Guide[] = [
  {
    name: "first-run",
    isStarted: false,
    skipped: [[/^export/, "the session sets the key"]],
  },
  { name: "keys-and-limits", isStarted: true },
  {
    name: "usage",
    isStarted: true,
    before: [createKey],
    skipped: [[/ request req_…/, "needs the id of a request: operators-day.test.ts runs it"]],
  },
  { name: "backup", isStarted: true },
  { name: "metrics", isStarted: true },
  {
    name: "tracing",
    isStarted: true,
    skipped: [[/^PARLEY_OTLP_ENDPOINT=/, "needs a collector: tracing.test.ts has one"]],
  },
  { name: "implementing", isStarted: true },
  { name: "configuration", isStarted: false },
  {
    name: "vllm",
    isStarted: true,
    skipped: [
      [/ vllm install$/, "downloads 5 GB: vllm/ has tests with a real vLLM"],
      [/^docker build /, "needs a Docker engine and the same 5 GB"],
      [/^PARLEY_ENGINE=/, "needs a vLLM: vllm/ starts it as a process and in a container"],
      [/ engine doctor MODEL --front/, "needs a model behind a front: fronts/ and remote-fronts.test.ts have some"],
      [/ engine logs MODEL/, "needs an engine with a log of its own"],
      [/ engine restart MODEL/, "needs an engine that can be restarted"],
      [/ report:vllm/, "takes an hour"],
    ],
  },
  {
    name: "upgrades",
    isStarted: true,
    skipped: [
      [/^git /, "changes the repository"],
      [/restore \.parley\/parley\.db\.v1/, "needs a folder of an earlier version: state/ has tests of that"],
      [/downgrade --to 1$/, "needs PostgreSQL: state/postgres-changes.test.ts goes back"],
    ],
  },
];

test.each(tried.flatMap(({ name, skipped = [] }) => skipped.map(([command]) => [name, command] as const)))(
  "%s still has the skipped command %s",
  (name, command) => {
    expect(readShellCommands(textOf(name)).some((typed) => command.test(typed))).toBe(true);
  },
);

for (const { name, isStarted, before = [], skipped = [] } of tried) {
  describe(`the guide ${name}`, () => {
    let session: GuideSession;
    beforeAll(async () => {
      session = await GuideSession.open({ env: { PARLEY_ENGINE: "scripted" }, hasMetrics: true });
      if (isStarted) await session.start();
      for (const command of before) await session.runToEnd(command);
    });
    afterAll(() => session[Symbol.asyncDispose]());

    const commands = readShellCommands(textOf(name)).filter((typed) => !skipped.some(([shape]) => shape.test(typed)));

    test.each(commands)("$ %s", { timeout: 60_000 }, async (command) => {
      if (/ pnpm@\S+ start$/.test(command)) return expect(await session.start()).toContain("Base URL");
      const [file = ""] = globSync(".parley/key-*", { cwd: session.folder });
      const key = file === "" ? "" : `PARLEY_KEY=$(cat ${file})\n`;
      const { isDone, output } = await session.runToEnd(key + command);
      expect(isDone ? "" : output).toBe("");
      expect(output).not.toMatch(/"error":/);
    });
  });
}

describe("scripted-engine", () => {
  const guide = textOf("scripted-engine");
  let session: GuideSession;
  beforeAll(async () => {
    session = await GuideSession.open();
    const [, script = ""] = /^```json\n([^]*?)^```$/m.exec(guide) ?? [];
    writeFileSync(join(session.folder, "faults.json"), script);
  });
  afterAll(() => session[Symbol.asyncDispose]());

  test("its command starts a server that plays its script", { timeout: 60_000 }, async () => {
    const [command = ""] = readShellCommands(guide);
    await session.start(/ start (.+)$/.exec(command)?.[1]?.split(" "));
    const body =
      '{"model": "model-1", "messages": [{"role": "user", "content": "script:late-failure"}], "stream": true}';
    const { output } = await session.runToEnd(
      `curl -s http://127.0.0.1:8080/v1/chat/completions -H "Authorization: Bearer $(cat .parley/key-*)" --json '${body}'`,
    );
    expect(output).toMatch(/"content":"one"[^]*"content":" two"[^]*"code":"upstream_error"/);
    expect(output).not.toContain("[DONE]");
  });
});
