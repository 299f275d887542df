import type { Contract } from "../sources.ts";
import { valueAt } from "@parley/contract/document";

/** Describes a place of the contract as Markdown: a link to the page that shows it, and its own text. */
export function describePointer(contract: Contract, pointer: string): string {
  const target = valueAt(contract, pointer);
  const text = ["description", "text"]
    .map((name) => valueAt(target, `/${name}`))
    .find((one) => typeof one === "string");
  const said = text === undefined ? "" : `\n\n${quote(firstParagraph(text))}`;
  return `The clause is about ${placeOf(pointer)}.${said}`;
}

const firstParagraph = (text: string): string => text.trim().split(/\n\s*\n/)[0] ?? "";
const quote = (text: string): string => text.replaceAll(/^/gm, "> ");

const operations: Readonly<Record<string, string>> = {
  "/v1/chat/completions": "createChatCompletion",
  "/v1/models": "listModels",
  "/v1/models/{model}": "retrieveModel",
  "/v1/key": "retrieveKey",
  "/v1/usage/{request_id}": "retrieveReceipt",
};

/** Names a place, with a link where the portal shows it. */
function placeOf(pointer: string): string {
  const [first = "", second = "", third = ""] = pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const code = `\`${pointer}\``;
  if (first === "x-error-catalog" && second === "") return `[the error codes](/docs/errors), at ${code}`;
  if (first === "x-error-catalog") return `the error [\`${second}\`](/docs/errors/${second}), at ${code}`;
  if (first === "paths" && operations[second])
    return `[${operations[second]}](/docs/reference/${operations[second]}), at ${code}`;
  if (first === "components" && second === "schemas") return `[${third}](/docs/reference/schemas/${third}), at ${code}`;
  if (first === "x-streams") return `[the stream](/docs/reference/stream), at ${code}`;
  return code;
}
