import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { toCurl } from "../src/wire/http-request.ts";
import type { HttpRequest } from "../src/wire/http-request.ts";

const run = promisify(execFile);

/** The arguments that a shell passes to curl, and its standard input. */
async function wordsOf(request: HttpRequest): Promise<{ readonly words: readonly string[]; readonly input: string }> {
  const stub = `curl() { printf '%s\\0' "$@"; case "$*" in *@-*) base64 -w0;; esac; }`;
  const env = { ...process.env, API_KEY: "key-of-the-shell" };
  const { stdout } = await run("sh", ["-c", `${stub}\n${toCurl(request, "http://host:1", "API_KEY")}`], { env });
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

test("the key comes from the environment in a query, too", async () => {
  const { words } = await wordsOf({ ...asked, target: "/v1/models?key={key}&n=[1]" });
  expect(words).toContain("http://host:1/v1/models?key=key-of-the-shell&n=[1]");
});

test("curl adds no media type where the request had none, and bytes that are not text come through a pipe", async () => {
  const { words, input } = await wordsOf({ ...asked, body: undefined, bodyBase64: "AAEC/w==" });
  expect(words).toContain("Content-Type:");
  expect(words.slice(-2)).toEqual(["--data-binary", "@-"]);
  expect(input).toBe("AAEC/w==");
});

test("a body that is cut says so, in a comment of the shell", async () => {
  const command = toCurl({ ...asked, body: "x".repeat(5000) }, "http://host:1", "API_KEY");
  expect(command).toMatch(/# its body is cut here, and whole in the recording$/);
});
