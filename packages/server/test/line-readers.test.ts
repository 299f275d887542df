import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { judgeStream, modelId, play, testKey, textOf } from "@parley/server/testing";
import { RawConnection, requestText } from "./raw.ts";
import { useServer } from "./use-server.ts";

// Some readers split lines at more characters than CR and LF. They must find each event in one line.

const odd = "a\u0085b\u2028c\u2029d\u000be\u000cf\u001cg\u001dh\u001ei\u007f\ufeffé汉🜁\\u2028\r\n";
/** The characters other than CR and LF at which Python's `splitlines` splits. */
const lineEnds = ["\v", "\f", "\u001c", "\u001d", "\u001e", "\u0085", "\u2028", "\u2029"];
const hasLineEnd = (body: string): boolean => lineEnds.some((character) => body.includes(character));

const server = useServer({
  scenarios: {
    odd: [
      { role: true },
      { reasoning: odd },
      { text: odd },
      { tool: { index: 0, name: "f", arguments: JSON.stringify({ a: odd }) } },
      { finish: "tool_calls" },
    ],
    text: [{ role: true }, { split: true }, { text: odd }, { finish: "stop" }],
  },
});
const asked = { ...play("text"), stream: true };

/** Joins the texts of the events in these lines. */
const joined = (lines: readonly string[]): string =>
  lines
    .filter((line) => line.startsWith("data: {"))
    .flatMap((line) => textOf([JSON.parse(line.slice(6)) as Parameters<typeof textOf>[0][number]], 0)) // judged elsewhere
    .join("");

test("STRM-43 a text, its reasoning and its calls reach the reader as they were generated", async () => {
  const { chunks } = await server().stream(play("odd")); // the machine of the contract refuses raw characters
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  expect(deltas.map(({ reasoning }) => reasoning ?? "").join("")).toBe(odd);
  expect(deltas.map(({ content }) => content ?? "").join("")).toBe(odd);
  const calls = deltas.flatMap(({ tool_calls = [] }) => tool_calls);
  expect(calls.map((call) => call.function?.arguments ?? "").join("")).toBe(JSON.stringify({ a: odd }));
});

test("STRM-43 so do log-probabilities, token by token", async () => {
  const content = "x \u2028y \u0085z";
  const fields = { messages: [{ role: "user", content }], logprobs: true, top_logprobs: 1 };
  const { chunks, text: answer } = await server().stream(fields);
  const tokens = chunks.flatMap(({ choices }) => choices.flatMap(({ logprobs }) => logprobs?.content ?? []));
  expect(answer).toBe(`You said: ${content}`);
  expect(tokens.map(({ token }) => token).join("")).toBe(answer);
});

test("a plain answer is one line as well", async () => {
  const response = await server().chat(play("odd"));
  const body = await response.text();
  expect(hasLineEnd(body)).toBe(false);
  expect(JSON.parse(body)).toMatchObject({ choices: [{ message: { content: odd, reasoning: odd } }] });
});

test("an error that quotes the caller is one line as well", async () => {
  const response = await server().chat({ model: `${modelId}\u2028\u0085` });
  const body = await response.text();
  expect([response.status, hasLineEnd(body)]).toEqual([404, false]);
  expect(body).toContain(String.raw`\u2028\u0085`);
});

test("STRM-43 a client of HTTP/1.0 gets the same events", async () => {
  using connection = await RawConnection.open(server().origin);
  const body = JSON.stringify({ model: modelId, ...asked });
  const headers = {
    authorization: `Bearer ${testKey}`,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  };
  connection.send(requestText("POST /v1/chat/completions", headers, body).replace("HTTP/1.1", "HTTP/1.0"));
  await connection.closed;
  const [, events = ""] = Buffer.from(connection.rest, "latin1").toString().split("\r\n\r\n");
  expect(judgeStream(asked, events)).toMatchObject({ end: "done", text: odd });
});

test("readline of Node finds each event in one line", async () => {
  const response = await server().chat(asked);
  const lines: string[] = [];
  for await (const line of createInterface({ input: Readable.from([Buffer.from(await response.arrayBuffer())]) }))
    lines.push(line);
  expect(joined(lines)).toBe(odd);
});

/** A program that splits a body as `iter_lines` of httpx and requests do. */
const python = "import json, sys; print(json.dumps(sys.stdin.buffer.read().decode().splitlines()))";
const hasPython = spawnSync("python3", ["--version"], { stdio: "ignore" }).error === undefined;

test.skipIf(!hasPython)("splitlines of Python finds each event in one line (runs with python3 installed)", async () => {
  const response = await server().chat(asked);
  const child = spawn("python3", ["-c", python]);
  child.stdin.end(Buffer.from(await response.arrayBuffer()));
  expect(joined(JSON.parse(await text(child.stdout)) as string[])).toBe(odd);
});
