import { valueAt } from "@parley/contract/document";
import type { Answer } from "../wire/answer.ts";
import { broken, cannot, must, show } from "./finding.ts";

export { valueAt };

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const listAt = (value: unknown, pointer: string): readonly unknown[] => {
  const found = valueAt(value, pointer);
  return Array.isArray(found) ? found : [];
};

export const numberAt = (value: unknown, pointer: string): number => {
  const found = valueAt(value, pointer);
  return typeof found === "number" ? found : Number.NaN;
};

export const textAt = (value: unknown, pointer: string): string | undefined => {
  const found = valueAt(value, pointer);
  return typeof found === "string" ? found : undefined;
};

/** Returns whether the answer is a success with a completion, streamed or not. */
export function isCompletion(answer: Answer): boolean {
  if (answer.status !== 200) return false;
  if (answer.mediaType === "text/event-stream")
    return chunksOf(answer).some((chunk) => listAt(chunk, "/choices").length > 0);
  return listAt(answer.json, "/choices").some((choice) => isRecord(valueAt(choice, "/message")));
}

/** The completion; the clause is broken if the request was not accepted. */
export function completionOf(answer: Answer): unknown {
  must(isCompletion(answer), answer, "status 200 with a chat completion", answer.summary);
  return answer.json;
}

/** The completion; the check is untestable if the request was not accepted. */
export function givenCompletion(answer: Answer): unknown {
  if (!isCompletion(answer))
    cannot(`the request "${answer.name}" was not answered with a completion: ${answer.summary}`);
  return answer.json;
}

/** The text of a choice, streamed or not. */
export function contentOf(answer: Answer, index = 0): string {
  if (answer.mediaType !== "text/event-stream") return textAt(answer.json, `/choices/${index}/message/content`) ?? "";
  return choiceEvents(answer, index)
    .map((choice) => textAt(choice, "/delta/content") ?? "")
    .join("");
}

/** The events of a stream whose data is JSON. */
export function chunksOf(answer: Answer): readonly unknown[] {
  return answer.stream.events.flatMap(({ data }) => {
    const value = parse(data);
    return value === undefined ? [] : [value];
  });
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The deltas of one choice, event by event. */
export function choiceEvents(answer: Answer, index: number): readonly unknown[] {
  return chunksOf(answer)
    .flatMap((chunk) => [...listAt(chunk, "/choices")])
    .filter((choice) => valueAt(choice, "/index") === index);
}

export function finishOf(answer: Answer, index = 0): unknown {
  if (answer.mediaType !== "text/event-stream") return valueAt(answer.json, `/choices/${index}/finish_reason`);
  return choiceEvents(answer, index)
    .map((choice) => valueAt(choice, "/finish_reason"))
    .findLast((reason) => typeof reason === "string");
}

export function usageOf(answer: Answer): unknown {
  if (answer.mediaType !== "text/event-stream") return valueAt(answer.json, "/usage");
  return chunksOf(answer)
    .map((chunk) => valueAt(chunk, "/usage"))
    .findLast(isRecord);
}

/** A token count from the answer's usage. Without one, the check cannot be decided. */
export function tokensOf(answer: Answer, name: "prompt_tokens" | "completion_tokens"): number {
  const count = numberAt(usageOf(answer), `/${name}`);
  return Number.isInteger(count) ? count : cannot(`"${answer.name}" has no usage.${name}`);
}

/** The request body as it was sent. */
export function sentBody(answer: Answer): Record<string, unknown> {
  const body = parse(answer.exchange.request.body ?? "");
  return isRecord(body) ? body : {};
}

/** The expected form of an error. */
export interface Refusal {
  readonly status: number;
  /** Absent: the clause demands a refusal, and leaves its code open. */
  readonly code?: string;
  readonly param?: string | null;
  /** A pattern that the message must match. */
  readonly says?: RegExp;
}

/** Demands this refusal; returns what was seen. */
export function mustRefuse(answer: Answer, { status, code, param, says }: Refusal): string {
  const members = Object.entries({ code, param }).filter(([, value]) => value !== undefined);
  const wanted = [`status ${status}`, ...members.map(([name, value]) => `error.${name} ${show(value)}`)].join(", ");
  must(answer.status === status, answer, wanted, answer.summary);
  const error = valueAt(answer.json, "/error");
  for (const [name, value] of members) {
    const found = valueAt(error, `/${name}`);
    if (found === value) continue;
    const seen = found === undefined ? `no error.${name}` : `error.${name} ${show(found)}`;
    broken(answer, wanted, `${seen} in ${answer.summary}`, {
      name: `error.${name}`,
      value: show(found),
    });
  }
  const message = textAt(error, "/message") ?? "";
  if (says && !says.test(message))
    broken(answer, `a message that matches ${String(says)}`, `the message ${show(message)}`);
  return `${answer.name}: ${wanted}`;
}
