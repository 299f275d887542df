import type { EngineRequest } from "../../engine.ts";
import { anyOf } from "../../prompt/escape-special-tokens.ts";
import { textOf, toTemplateMessages } from "../../prompt/template-messages.ts";
import { RequestRefusedError } from "../../request-refused.ts";
import { toChatMessages } from "./chat-messages.ts";

/**
 * A chat route recognises special tokens in a caller's text, and no request can prevent it. Text that spells one is refused,
 * with its path. It is not replaced, because that would change the caller's text.
 * @param specialTokens the spellings of the configured tokenizer
 * @throws {RequestRefusedError}
 */
export function refuseSpecialTokens(request: EngineRequest, specialTokens: readonly string[]): void {
  const found = findFirst(request, patternOf(specialTokens));
  if (!found) return;
  const { spelling, path: param } = found;
  throw new RequestRefusedError(
    `${param} spells ${spelling}, which this model's engine would read as a special token.`,
    {
      param,
    },
  );
}

const patterns = new WeakMap<readonly string[], RegExp>();

/** Returns a pattern that matches any of the spellings. It is cached per list, and each model has one list. */
function patternOf(specialTokens: readonly string[]): RegExp {
  const known = patterns.get(specialTokens);
  if (known) return known;
  const pattern = new RegExp(anyOf(specialTokens), "u");
  patterns.set(specialTokens, pattern);
  return pattern;
}

interface Found {
  readonly spelling: string;
  readonly path: string;
}

function findFirst({ messages, tools, format }: EngineRequest, specials: RegExp): Found | undefined {
  // Text parts are joined before they are sent, so a special token may be spelled across two of them.
  const joined = messages.map((message) => ({ ...message, content: textOf(message.content) }));
  // Arguments are parsed, because serializing them again spells out characters that were written as escapes.
  const sent = toChatMessages(messages, { isVllm: true, systemPlacement: "in place" });
  const functions = tools.map((tool) => ({ function: tool }));
  const given: readonly (readonly [path: string, value: unknown])[] = [
    ["messages", joined],
    ["messages", sent],
    ["tools", functions],
    // Some services write the schema into the prompt.
    ["response_format.json_schema", format.type === "json_schema" ? { schema: format.schema } : undefined],
  ];
  for (const [path, value] of given) {
    const found = findIn(value, path, specials);
    if (found) return found;
  }
  return findInMerged(messages, specials);
}

/** The error for a special token that appears only when system messages are merged. */
function findInMerged(messages: EngineRequest["messages"], specials: RegExp): Found | undefined {
  const found = findIn(toTemplateMessages(messages, "in front"), "messages", specials);
  return found && { ...found, path: "messages" };
}

function findIn(value: unknown, path: string, specials: RegExp): Found | undefined {
  if (typeof value === "string") {
    const [spelling] = specials.exec(value) ?? [];
    return spelling === undefined ? undefined : { spelling, path };
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${name}]` : `.${name}`;
    const found = findIn(name, path, specials) ?? findIn(member, path + step, specials);
    if (found) return found;
  }
  return undefined;
}
