import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  startCuttingFront,
  startTestServer,
  testKey,
} from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { filesOf, folder, kinds, missingFor } from "./samples.ts";

const said = "You said: What is a reentrancy attack\\?";

/** The output of the samples of each task with the scripted engine, which repeats the user's message. */
const printed: Readonly<
  Record<string, { readonly program: RegExp; readonly curl: RegExp }>
> = {
  ".": { program: new RegExp(`^${said}$`), curl: /^$/ },
  "quick-start": {
    program: new RegExp(`^${said}\n$`),
    curl: new RegExp(`"content":"${said}"`),
  },
  streaming: {
    program: new RegExp(`^${said}\n$`),
    curl: /^data: \{[^]*\ndata: \[DONE\]\n\n$/,
  },
  errors: {
    program: new RegExp(`^${said}\nmodel_not_found: .+ \\(request req_\\w+\\)\n$`),
    curl: /"code":"model_not_found"/,
  },
  limits: {
    program:
      /^.+\n\d+ of 10000 requests left, all again in \S+s\n\d+ of 10000000 tokens left, all again in \S+s\n$/,
    curl: /^(x-ratelimit-(limit|remaining|reset)-(requests|tokens): \w+\r?\n){6}$/i,
  },
  tools: {
    program: /^You said: What does gas cost on Ethereum\?\n$/,
    curl: /"name":"get_gas_price","arguments":"\{\\"chain\\":\\"(ethereum|polygon)\\"\}"/,
  },
  "structured-output": {
    program: /^The risk is (low|high)\.\n$/,
    curl: /"content":"\{\\"risk\\": ?\\"low\\"/,
  },
  models: {
    program: /^vendor\/model-1\nvendor\/model-1-mini\n$/,
    curl: /^"id":"vendor\/model-1"\n"is_ready":true\n"id":"vendor\/model-1-mini"\n"is_ready":true\n$/,
  },
  model: {
    program: /^vendor\/model-1 of vendor\n$/,
    curl: /"id":"vendor\/model-1","object":"model"/,
  },
  key: {
    program: /^\d+ of 10000 requests left\n$/,
    curl: /^"limits":\{"requests":\{"limit":10000,.*\},"budgets":\[\]\}\n$/,
  },
  receipt: {
    program: /^complete: 0\.0\d+ US dollars\n$/,
    curl: /^\{"object":"receipt","id":"req_\w+",.*"cost_usd":"0\.0\d+"\}$/,
  },
  repeat: {
    program: new RegExp(
      `^${said}\nA first answer was lost, and was not charged twice.\n$`,
    ),
    curl: new RegExp(`^idempotent-replayed: true\r\n\\{.*"content":"${said}"`),
  },
  ignored: {
    program: new RegExp(`^${said}\nWithout effect: store\n$`),
    curl: /^x-ignored-params: store,mirostat\r?\n$/i,
  },
  reasoning: {
    program: new RegExp(`^Reasoning: The caller asks something\\.\n${said}\n$`),
    curl: /"reasoning":"The caller asks something\."/,
  },
  "tokens-and-cost": {
    program: new RegExp(`^${said}\n\\d+ \\+ \\d+ tokens, 0\\.0\\d+ US dollars\n$`),
    curl: /^"usage":\{"prompt_tokens":\d+.*"cost_usd":"0\.0\d+"\}/,
  },
};

/** The samples that read events without a library. */
const readsEvents = /^streaming\/(with_httpx|main|Streaming)/;

const breaks = [
  {
    title: "a stream without [DONE]",
    change: (text: string) => text.replace("data: [DONE]", ""),
    message: "the answer is not complete",
  },
  {
    title: "an error event",
    change: (text: string) =>
      text.replace(
        /data: \{[^\n]*"finish_reason":"stop"[^]*/,
        'data: {"error": {"message": "It broke."}}\n\n',
      ),
    message: "It broke.",
  },
];

test("every task has samples, and every folder of samples is a task", () => {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const names = folders
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("."));
  expect(names.toSorted()).toEqual(
    Object.keys(printed)
      .filter((task) => task !== ".")
      .toSorted(),
  );
});

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

for (const kind of kinds) {
  const missing = missingFor(kind);
  const wish = missing === "" ? "" : ` (it would run with ${missing} installed)`;
  describe.skipIf(missing !== "")(`${kind.label}${wish}`, () => {
    let scratch: string;
    /** The reason why packages could not be installed: without a network, these samples do not run. */
    let trouble: unknown;
    beforeAll(async () => {
      scratch = mkdtempSync(join(tmpdir(), "parley-samples-"));
      await kind.prepare?.(scratch).catch((error: unknown) => {
        if (!isOffline(error)) throw error;
        trouble = error;
      });
    }, 300_000);
    afterAll(() => rmSync(scratch, { recursive: true, force: true }));

    test.for(filesOf(kind.files))("%s prints the answer", async (path, context) => {
      context.skip(trouble !== undefined, "it would run with access to PyPI");
      const { program, curl } =
        printed[dirname(path)] ?? expect.fail("unknown task");
      const front = path.startsWith("repeat/")
        ? await startCuttingFront(server.origin, "answered")
        : await startBusyFront(server.origin, path.startsWith("errors/") ? 1 : 0);
      await using _front = front;
      const [file, ...args] = kind.command(join(folder, path), scratch);
      const env = {
        ...process.env,
        PARLEY_URL: front.baseUrl,
        PARLEY_KEY: testKey,
      };
      const { stdout } = await promisify(execFile)(file, args, {
        cwd: scratch,
        env,
      });
      expect(stdout).toMatch(kind.label === "curl" ? curl : program);
      if ("refused" in front)
        expect(front.refused()).toBe(path.startsWith("errors/") ? 1 : 0);
    });

    const readers = filesOf(kind.files).filter((path) => readsEvents.test(path));
    test.for(readers.flatMap((path) => breaks.map((one) => ({ path, ...one }))))(
      "$path notices $title",
      async ({ path, change, message }, context) => {
        context.skip(trouble !== undefined, "it would run with access to PyPI");
        await using front = await startBusyFront(server.origin, 0, change);
        const [file, ...args] = kind.command(join(folder, path), scratch);
        const env = {
          ...process.env,
          PARLEY_URL: front.baseUrl,
          PARLEY_KEY: testKey,
        };
        const ended = promisify(execFile)(file, args, { cwd: scratch, env });
        await expect(ended).rejects.toThrow(message);
      },
    );
  });
}

const isOffline = (error: unknown): boolean =>
  error instanceof Error &&
  /NameResolution|NewConnectionError|ConnectTimeout|No matching distribution/.test(
    error.message,
  );

/**
 * A server in front of Parley that is too busy for the first `refusals` requests.
 * @param change changes the text of every answer
 */
async function startBusyFront(
  origin: string,
  refusals: number,
  change = (text: string): string => text,
) {
  let refused = 0;
  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const body = await text(request);
    if (refused < refusals) {
      refused += 1;
      response.writeHead(429, {
        "retry-after": "1",
        "retry-after-ms": "20",
        "content-type": "application/json",
      });
      response.end(
        '{"error": {"message": "Busy.", "code": "capacity_exhausted"}, "request_id": "req_1"}',
      );
      return;
    }
    const { authorization = "" } = request.headers;
    const answered = await fetch(origin + request.url, {
      method: request.method ?? "GET",
      headers: { authorization, "content-type": "application/json" },
      body: body === "" ? null : body,
    });
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.end(change(await answered.text()));
  };
  const front = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  const { port } = front.address() as AddressInfo; // it listens on TCP
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    refused: () => refused,
    async [Symbol.asyncDispose]() {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}
