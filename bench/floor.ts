import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bodyOf } from "./gateways/measure.ts";
import { median } from "./gateways/report/result.ts";
import { modelFolder } from "./gateways/subjects/subject.ts";
import { ReportCommand, wholeNumber } from "@parley/common/flag-values";
import { loadPino, openEventParser, openLedger, openTemplate, openTokenizer } from "./libraries.ts";
import type { Message } from "./libraries.ts";

/**
 * Measures only the libraries, without any code of Parley, on the work that the contract requires for a plain answer of 160
 * tokens. The sum is the floor of `bench`'s row `plain`, on top of the copying of bytes that the row of bare Node measures. Each
 * step runs in a warm loop of its own, which is its best case. Prints processor time in µs: median, least and most of all rounds.
 */
const { rounds } = new ReportCommand("bench:floor")
  .description(
    "Measures the processor time of the libraries alone, at the work that a plain answer of 160 tokens takes: the least that " +
      "bench's row plain can cost on top of bare Node. The sum without the events is the least that passes before the first token.",
  )
  .option("--rounds <count>", "how often each step is measured", wholeNumber, 5)
  .parse()
  .opts<{ readonly rounds: number }>();

const answerTokens = 160;
/** Answers in a round, and in a transaction of the ledger. */
const answers = 2000;
const answersPerTransaction = 16;

const folder = mkdtempSync(join(tmpdir(), "parley-floor-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const body = JSON.stringify(bodyOf(answerTokens, false));
const { messages } = JSON.parse(body) as { readonly messages: readonly Message[] }; // as it was written

function makeTemplate(): () => unknown {
  const render = openTemplate(modelFolder);
  return () => render(messages);
}

function makeTokenizer(): () => unknown {
  const countTokens = openTokenizer(modelFolder);
  const prompt = messages.map(({ content }) => content).join("\n");
  return () => countTokens(prompt);
}

/** Parses the engine's events in reads of 16 KB and builds the answer from them. */
function makeEvents(): () => unknown {
  const head = { id: "chatcmpl-0123456789abcdef", object: "chat.completion.chunk", created: 1_764_000_000, model: "m" };
  const usage = { prompt_tokens: 60, total_tokens: 99, completion_tokens: 39 };
  const event = { ...head, choices: [{ index: 0, delta: { content: " words" }, finish_reason: null }], usage };
  const bytes = Buffer.from(`data: ${JSON.stringify(event)}\n\n`.repeat(answerTokens));
  return () => {
    let content = "";
    const decoder = new TextDecoder();
    const parser = openEventParser((data) => {
      content += (JSON.parse(data) as typeof event).choices[0]?.delta.content ?? "";
    });
    for (let at = 0; at < bytes.length; at += 16_384)
      parser.feed(decoder.decode(bytes.subarray(at, at + 16_384), { stream: true }));
    return JSON.stringify({ ...head, choices: [{ index: 0, message: { role: "assistant", content } }], usage });
  };
}

/** Opens and closes a ledger entry and adds up the key's spending, 16 entries in a transaction. */
function makeLedger(): () => unknown {
  const ledger = openLedger(folder);
  let entries = 0;
  return () => {
    if (entries % answersPerTransaction === 0) ledger.begin();
    const id = crypto.randomUUID();
    ledger.open(id, "key", entries);
    ledger.close(id, "key", entries, { prompt: 60, completion: answerTokens });
    entries += 1;
    if (entries % answersPerTransaction === 0) ledger.commit();
  };
}

function makeLog(): () => unknown {
  const pino = loadPino();
  const log = pino({ base: null }, pino.destination({ dest: join(folder, "log"), sync: false }));
  const line = { request_id: "req_0123", path: "/v1/chat/completions", status: 200, duration_ms: 12, tokens: 220 };
  return () => log.info(line, "request");
}

/** The only step whose time grows with the answer. */
const events = "160 events, parsed, and the answer";
const steps: Readonly<Record<string, () => unknown>> = {
  "the body, parsed": () => JSON.parse(body) as unknown,
  "the key, hashed": () => createHash("sha256").update("sk-parley-0123456789abcdef0123456789abcdef").digest("hex"),
  "the chat template": makeTemplate(),
  "the tokens of the prompt": makeTokenizer(),
  "the ledger": makeLedger(),
  [events]: makeEvents(),
  "a line of the log": makeLog(),
};

function measure(step: () => unknown): number {
  const before = process.cpuUsage();
  for (let answer = 0; answer < answers; answer += 1) step();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / answers;
}

const figures = new Map<string, number>();
for (const [name, step] of Object.entries(steps)) {
  measure(step); // warms it up
  const measured = Array.from({ length: rounds }, () => measure(step));
  figures.set(name, median(measured));
  console.log(
    `${name.padEnd(36)} ${median(measured).toFixed(1)} (${Math.min(...measured).toFixed(1)} to ${Math.max(...measured).toFixed(1)})`,
  );
}
const together = [...figures.values()].reduce((all, one) => all + one, 0);
console.log(`${"together".padEnd(36)} ${together.toFixed(1)}`);
console.log(`${"without the events".padEnd(36)} ${(together - (figures.get(events) ?? 0)).toFixed(1)}`);
