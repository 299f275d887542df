import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";

/**
 * A stand-in for `vllm serve`: it speaks vLLM's dialect of completions over a unix socket, with letters for an answer that
 * the prompt decides. The file in `SCRIPTED_VLLM` says what goes wrong: `{"log": [lines before anything else], "exit": code,
 * "coreDiesAfter": tokens after which it refuses every completion with 500, as vLLM does while it ends, "refuses": completions
 * after the first that get such a 500, "chaos": the share of events at which something happens, "deadly": the share of those
 * that kill the process, "paceMs": time for a token}`.
 */
interface Script {
  readonly log?: readonly string[];
  readonly exit?: number;
  readonly coreDiesAfter?: number;
  readonly refuses?: number;
  readonly chaos?: number;
  readonly deadly?: number;
  readonly paceMs?: number;
}

interface Completion {
  readonly prompt: readonly number[];
  readonly max_tokens: number;
}

const script = JSON.parse(readFileSync(process.env["SCRIPTED_VLLM"] ?? "", "utf8")) as Script; // written by a test
const { values } = parseArgs({
  strict: false,
  allowPositionals: true,
  options: { uds: { type: "string" }, "served-model-name": { type: "string" } },
});
let tokens = 0;
let completions = 0;

/** Returns the letters of an answer, which depend only on the prompt. */
const letter = (prompt: readonly number[], place: number): number =>
  97 + ((prompt.reduce((sum, id) => (sum * 31 + id) % 9973, 7) + place * place) % 26);

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === "/v1/models")
    return json(response, { data: [{ id: values["served-model-name"], max_model_len: 2048 }] });
  if (request.url === "/health") return void response.end();
  if (request.url === "/version") return json(response, { version: "0.32.0" });
  if (request.url === "/metrics") return void response.end(`vllm:generation_tokens_total{engine="0"} ${tokens}\n`);
  await complete(JSON.parse(await text(request)) as Completion, response); // written by the engine under test
}

const json = (response: ServerResponse, body: unknown): void => void response.end(JSON.stringify(body));

async function complete({ prompt, max_tokens }: Completion, response: ServerResponse): Promise<void> {
  completions += 1;
  const isRefused = completions > 1 && completions <= 1 + (script.refuses ?? 0);
  if (isRefused || tokens >= (script.coreDiesAfter ?? Infinity))
    return void response.writeHead(500).end("EngineDeadError");
  if (isChaotic() && prompt.length > 30) return void response.writeHead(Math.random() < 0.5 ? 503 : 500).end("busy");
  const say = (data: unknown): boolean =>
    response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  for (let place = 0; place < max_tokens && !response.destroyed; place += 1) {
    if (isChaotic()) return misbehave(response, say);
    if (tokens >= (script.coreDiesAfter ?? Infinity)) return void response.destroy();
    tokens += 1;
    const usage = { prompt_tokens: prompt.length, completion_tokens: place + 1 };
    const finish_reason = place + 1 === max_tokens ? "length" : null;
    say({ choices: [{ index: 0, token_ids: [letter(prompt, place)], finish_reason }], usage });
    await (script.paceMs === undefined ? turn() : wait(script.paceMs));
  }
  say("[DONE]");
  response.end();
}

const isChaotic = (): boolean => Math.random() < (script.chaos ?? 0);

/** Faults of a stream that were observed with vLLM, and a few more. */
function misbehave(response: ServerResponse, say: (data: unknown) => boolean): void {
  if (Math.random() < (script.deadly ?? 0)) process.kill(process.pid, "SIGKILL");
  const faults: readonly (() => void)[] = [
    () => response.destroy(),
    () => void response.end(),
    () => void (say("[DONE]") && response.end()),
    () => void (say({ choices: [{ index: 0, token_ids: [], finish_reason: "abort" }] }), say("[DONE]"), response.end()),
    () =>
      void (say({ error: { message: "EngineCore encountered an issue.", code: 500 } }), say("[DONE]"), response.end()),
    () => void (say("<html>"), response.end()),
  ];
  faults[Math.floor(Math.random() * faults.length)]?.();
}

for (const line of script.log ?? []) process.stderr.write(`${line}\n`);
if (script.exit !== undefined) process.exit(script.exit);
const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.listen(String(values["uds"]));
process.on("SIGTERM", () => process.exit(0));
// A real vLLM lives on when its owner was killed, but a stand-in must not outlive an aborted test.
const owner = process.ppid;
setInterval(() => process.ppid !== owner && process.exit(1), 1000);
