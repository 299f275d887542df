import { isObject, plainText, resolve } from "../try/schema.ts";
import type { JsonObject } from "../try/schema.ts";
import { Conversation } from "./try/conversation.ts";
import { openConnection } from "./try/connection.ts";
import { byId, element, makeReady } from "./try/element.ts";

/** `/docs/playground`: a chat for people. */

const connection = await openConnection();
const message = byId("message", HTMLTextAreaElement);
const instructions = byId("instructions", HTMLTextAreaElement);
const [form, effort] = [byId("form", HTMLSelectElement), byId("effort", HTMLSelectElement)];
const tool = byId("tool", HTMLInputElement);
const [stop, retry] = [byId("stop", HTMLButtonElement), byId("retry", HTMLButtonElement)];

/** The tool of the contract's own example. */
function offeredTools(): JsonObject {
  const { request } = connection.data.examples.find(({ name }) => name === "tools") ?? {};
  return tool.checked && request?.["tools"] !== undefined ? { tools: request["tools"] } : {};
}

/** Returns the request for the next answer. */
const request = (messages: readonly JsonObject[]): JsonObject => ({
  model: connection.model.value,
  messages: [
    ...(instructions.value.trim() === "" ? [] : [{ role: "system", content: instructions.value }]),
    ...messages,
  ],
  stream: true,
  stream_options: { include_usage: true },
  ...(form.value === "json" && { response_format: { type: "json_object" } }),
  ...(effort.value !== "" && { reasoning_effort: effort.value }),
  ...offeredTools(),
});

const conversation = new Conversation(connection, byId("log", HTMLElement), byId("state", HTMLElement), request);
conversation.onChange = ({ isRunning, canRetry }) => {
  byId("send", HTMLButtonElement).disabled = isRunning;
  stop.disabled = !isRunning;
  retry.disabled = isRunning || !canRetry;
};

function submit(): void {
  const text = message.value.trim();
  if (text === "" || conversation.isRunning) return;
  message.value = "";
  void conversation.say(text);
}

byId("compose", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
message.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  submit();
});
stop.addEventListener("click", () => conversation.stop());
retry.addEventListener("click", () => void conversation.retry());
byId("new", HTMLButtonElement).addEventListener("click", () => {
  conversation.clear();
  message.focus();
});
document.addEventListener(
  "keydown",
  ({ key }) => key === "Escape" && !document.querySelector("dialog[open]") && conversation.stop(),
);

const { schemas, examples } = connection.data;
const efforts = resolve(schemas, schemas["ReasoningEffort"] ?? {}).enum ?? [];
effort.replaceChildren(
  ...["", ...efforts.map((one) => plainText(one))].map((value) =>
    element("option", { value, textContent: value || "The model's default" }),
  ),
);

/** Offers questions to begin with. In the demo, each of them has an answer of its own. */
function offerQuestions(): void {
  const empty = document.getElementById("empty");
  if (!empty) return;
  const names = new Set(["plain", "reasoning", "tools", "json-object"]);
  const all = [...examples.filter(({ name }) => names.has(name)), ...(connection.demo?.examples ?? [])];
  const buttons = all.flatMap(({ name, request: asked }) => {
    const last = Array.isArray(asked["messages"]) ? asked["messages"].at(-1) : undefined;
    const text = isObject(last) && typeof last["content"] === "string" ? last["content"] : "";
    if (text === "") return [];
    const button = element("button", { type: "button", className: "question", textContent: text });
    button.addEventListener("click", () => {
      tool.checked = name === "tools";
      form.value = name === "json-object" ? "json" : "";
      void conversation.say(text);
    });
    return [button];
  });
  empty.replaceChildren(
    "Ask something. The conversation stays on this page.",
    element("span", { className: "questions" }, ...buttons),
  );
}

conversation.onClear = offerQuestions;
connection.onChange = offerQuestions;
offerQuestions();
makeReady();
