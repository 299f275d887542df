import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collect, runProfileOf } from "../mutants/judge.ts";
import { startSubject } from "../mutants/subject.ts";
import type { RunProfile } from "../src/profile.ts";
import { buildReport } from "../src/report/report.ts";
import { toCurl, variablesOf } from "../src/report/to-curl.ts";
import { writeReports } from "../src/report/write-reports.ts";
import { assess } from "../src/run/assess.ts";
import { Answer } from "../src/wire/answer.ts";
import type { Exchange } from "../src/wire/exchange.ts";
import type { HttpRequest } from "../src/wire/http-request.ts";

const run = promisify(execFile);

const profile: RunProfile = {
  levels: [],
  origin: "http://host:1",
  basePath: "/v1",
  keyRoles: ["expired"],
  keys: { expired: { env: "OLD_KEY" } },
  extraHeaders: [["X-Portkey-Api-Key", "{header_b}"]],
  isProbing: false,
  isExhaustive: false,
  seed: 0,
};
const shell = { keyVariable: "API_KEY" };
const variables = { API_KEY: "key-of-the-shell", OLD_KEY: "old one", X_PORTKEY_API_KEY: "pk $HOME" };

/** The arguments that a shell passes to curl, and its standard input. */
async function wordsOf(request: HttpRequest): Promise<{ readonly words: readonly string[]; readonly input: string }> {
  const stub = `curl() { printf '%s\\0' "$@"; case "$*" in *@-*|*telnet*) base64 -w0;; esac; }`;
  const command = toCurl(request, "a name", profile, shell);
  const { stdout } = await run("sh", ["-c", `${stub}\n${command}`], { env: { ...process.env, ...variables } });
  const parts = stdout.split("\0");
  return { words: parts.slice(0, -1), input: parts.at(-1) ?? "" };
}

const asked: HttpRequest = {
  method: "POST",
  target: "/v1/x",
  headers: [["Authorization", "Bearer {key}"]],
  body: "{}",
};

test("a shell reads the command unchanged, with any text in it", async () => {
  const odd = `a "b" 'c' \`d\` $HOME \\ #e %`;
  const { words } = await wordsOf({
    ...asked,
    headers: [
      ["X-Odd", odd],
      ["X-Key", `${odd} {key}`],
    ],
    body: `@${odd}\n`,
  });
  expect(words).toContain(`X-Odd: ${odd}`);
  expect(words).toContain(`X-Key: ${odd} key-of-the-shell`);
  expect(words.slice(words.indexOf("--data-raw"))).toEqual(["--data-raw", `@${odd}\n`]);
});

test("every credential comes from the environment: keys, their roles, and the caller's own headers", async () => {
  const { words } = await wordsOf({
    ...asked,
    target: "/v1/models?key={key}&n=[1]",
    headers: [["Authorization", "Bearer {expired}"], ["X-Unknown", "{unknown}"], ...profile.extraHeaders],
  });
  expect(words).toContain("http://host:1/v1/models?key=key-of-the-shell&n=[1]");
  expect(words).toContain("Authorization: Bearer old one");
  expect(words).toContain("X-Portkey-Api-Key: pk $HOME");
  expect(words.join(" ")).not.toMatch(/\{[a-z_]+\}/);
});

test("the variables are listed with what each has to hold", () => {
  const request = { ...asked, headers: [...asked.headers, ...profile.extraHeaders] };
  const exchange = {
    name: "x",
    request,
    startedMs: 0,
    startedAt: "",
    received: [],
    end: "closed",
    endedMs: 0,
    leaks: [],
  } as const;
  expect(Object.fromEntries(variablesOf([exchange], profile, shell))).toEqual({
    API_KEY: "the key of --api-key-env",
    X_PORTKEY_API_KEY: "the value of the header X-Portkey-Api-Key",
  });
});

test("curl adds no media type where the request had none, and bytes that are not text come through a pipe", async () => {
  const { words, input } = await wordsOf({ ...asked, body: undefined, bodyBase64: "AAEC/w==" });
  expect(words).toContain("Content-Type:");
  expect(words.slice(-2)).toEqual(["--data-binary", "@-"]);
  expect(input).toBe("AAEC/w==");
});

test("bytes that are not a request go out as they are", async () => {
  const raw = "GET /%20 HTTP/9.9\r\nHost: 'x'\r\nA: \\n \u00e9 {key}\r\n\r\n";
  const { words, input } = await wordsOf({ method: "GET", target: "", headers: [], raw });
  expect(words.at(-1)).toBe("telnet://host:1");
  expect(Buffer.from(input, "base64").toString("latin1")).toBe(raw.replace("{key}", "key-of-the-shell"));
});

test("an odd target and an empty header are sent as written", async () => {
  const { words } = await wordsOf({ ...asked, target: "*", headers: [["X-Empty", ""]] });
  expect(words.slice(words.indexOf("--request-target"), words.indexOf("--request-target") + 3)).toEqual([
    "--request-target",
    "*",
    "http://host:1/",
  ]);
  expect(words).toContain("X-Empty;");
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-conformance-curl-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The status of the last answer that a command prints. */
async function statusOf(command: string, key: string): Promise<number> {
  const env = { ...process.env, API_KEY: key };
  const { stdout } = await run("sh", ["-c", command], { env, encoding: "latin1", maxBuffer: 1e8 }).catch(
    (error: unknown) => error as { stdout: string }, // execFile rejects with the output
  );
  return Number([...stdout.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].at(-1)?.[1]);
}

const isRepeatable = ({ request, end, name }: Exchange): boolean =>
  request.behaviour === undefined && end === "complete" && !/ #\d+$/.test(name);

test("the commands of a report run as printed and get the same status, long bodies and raw bytes included", async () => {
  await using subject = await startSubject();
  const judging = { server: { ...subject, profile: {} }, levels: ["core", "stream"] as const, isExhaustive: true };
  const evidence = await collect(judging);
  const judged = runProfileOf(judging);
  const commands = { keyVariable: "API_KEY", folder };
  const report = buildReport(assess(evidence, judged), evidence, judged, 0, commands);
  const clauses = evidence.exchanges.map(({ name }) => ({ ...report.clauses[0], exchange: name }));
  // The reference breaks no clause, so every exchange is put into the report.
  await writeReports(
    folder,
    { ...report, clauses } as typeof report,
    { profile: judged, durationMs: 0, evidence },
    new Map(),
  );
  const sample = evidence.exchanges
    .filter((one) => isRepeatable(one))
    .filter((one, index) => index % 6 === 0 || one.request.raw !== undefined || (one.request.body ?? "").length > 1500);
  const seen = await Promise.all(
    sample.map(async ({ name, request }) => [
      name,
      await statusOf(toCurl(request, name, judged, commands), subject.secrets.get("key") ?? ""),
    ]),
  );
  expect(seen.length).toBeGreaterThan(30);
  expect(seen).toEqual(sample.map((exchange) => [exchange.name, new Answer(exchange).status]));
}, 120_000);
