import type { SimulatedEngine } from "../native/start-engine.ts";
import { answerTokens } from "./figures.ts";
import { modelName } from "./subjects/subject.ts";
import type { Subject } from "./subjects/subject.ts";

interface Answer {
  readonly choices?: readonly {
    readonly message?: { readonly content?: string };
    readonly delta?: { readonly content?: string | null };
  }[];
}

/** Checks that one plain and one streamed answer of a subject carry the engine's text. @returns the first problem, if any */
export async function findWrongAnswer(subject: Subject, engine: SimulatedEngine): Promise<string | undefined> {
  await engine.setPace({ intervalMs: 0 });
  const expected = engine.text(answerTokens);
  const plain = await ask(subject, false);
  const content = (JSON.parse(plain) as Answer).choices?.[0]?.message?.content; // as OpenAI documents it
  if (content !== expected) return `its plain answer is not the engine's: ${plain.slice(0, 300)}`;
  const streamed = await ask(subject, true);
  const text = streamed
    .split("\n")
    .filter((line) => line.startsWith("data:") && !line.includes("[DONE]"))
    .map((line) => (JSON.parse(line.slice("data:".length)) as Answer).choices?.[0]?.delta?.content ?? "")
    .join("");
  if (text !== expected || !streamed.includes("data: [DONE]"))
    return `its stream is not the engine's: ${streamed.slice(-300)}`;
  return undefined;
}

async function ask({ port, path, headers }: Subject, stream: boolean): Promise<string> {
  const body = { model: modelName, messages: [{ role: "user", content: "Hello" }], max_tokens: answerTokens, stream };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return answer.text();
}
