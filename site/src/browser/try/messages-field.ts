import { isObject, jsonOrText, plainText } from "../../try/schema.ts";
import type { Json, JsonObject } from "../../try/schema.ts";
import { element } from "./element.ts";
import { mark } from "./field.ts";

const roles = ["user", "assistant", "system", "developer", "tool"];

/** The messages of the request. Members that the form does not show, such as `tool_calls`, stay as they are. */
export class MessagesField {
  readonly box = element(
    "fieldset",
    { className: "messages" },
    element("legend", {}, element("code", { textContent: "messages" })),
  );
  readonly #rows = element("div", {});
  readonly #change: (messages: Json) => void;
  readonly #fault = element("small", { className: "fault", hidden: true });
  #messages: JsonObject[] = [];

  constructor(change: (messages: Json) => void) {
    this.#change = change;
    const add = element("button", { type: "button", textContent: "Add a message" });
    add.addEventListener("click", () => {
      const isAnswerNext = this.#messages.at(-1)?.["role"] === "user";
      this.#messages.push({ role: isAnswerNext ? "assistant" : "user", content: "" });
      this.#render();
      this.#rows.lastElementChild?.querySelector("textarea")?.focus();
      this.#change(this.#messages);
    });
    this.box.append(this.#rows, this.#fault, add);
  }

  set(messages: Json | undefined): void {
    this.#messages = Array.isArray(messages) ? messages.filter(isObject) : [];
    this.#render();
  }

  /** Marks the message at fault. @param param a path such as `messages[1].content` */
  mark(param: string | undefined, message: string | undefined): void {
    const index = Number(/^messages\[(\d+)\]/.exec(param ?? "")?.[1] ?? -1);
    for (const [at, row] of [...this.#rows.children].entries()) {
      const area = row.querySelector("textarea");
      const fault = row.querySelector<HTMLElement>(".fault");
      if (area && fault) mark(area, fault, at === index ? `${param}: ${message ?? ""}` : undefined);
    }
    mark(this.box, this.#fault, param !== undefined && index < 0 ? message : undefined);
    this.box.removeAttribute("aria-invalid"); // a group cannot have it
  }

  #render(): void {
    this.#rows.replaceChildren(...this.#messages.map((message, at) => this.#row(message, at)));
  }

  #row(message: JsonObject, at: number): HTMLElement {
    const { content, role } = message;
    const isText = typeof content === "string";
    const area = element("textarea", {
      rows: 2,
      value: isText ? content : JSON.stringify(content ?? null, undefined, 2),
    });
    area.setAttribute("aria-label", `Content of message ${at + 1}`);
    area.addEventListener("input", () => {
      message["content"] = isText ? area.value : jsonOrText(area.value);
      this.#change(this.#messages);
    });
    const select = element("select", {}, ...roles.map((one) => element("option", { value: one, textContent: one })));
    select.value = plainText(role ?? "");
    select.setAttribute("aria-label", `Role of message ${at + 1}`);
    select.addEventListener("change", () => {
      message["role"] = select.value;
      if (select.value === "tool") message["tool_call_id"] ??= "";
      else delete message["tool_call_id"];
      this.#render();
      this.#change(this.#messages);
    });
    const remove = element("button", { type: "button", className: "quiet-button", textContent: "Remove" });
    remove.setAttribute("aria-label", `Remove message ${at + 1}`);
    remove.addEventListener("click", () => {
      this.#messages.splice(at, 1);
      this.#render();
      this.#change(this.#messages);
    });
    const head = element("div", { className: "message-head" }, select, ...this.#extras(message), remove);
    return element("div", { className: "message" }, head, area, element("small", { className: "fault", hidden: true }));
  }

  /** The id of the call that a tool message answers, and a word about calls, which only JSON shows. */
  #extras(message: JsonObject): HTMLElement[] {
    if (message["role"] !== "tool") {
      return message["tool_calls"] === undefined
        ? []
        : [element("small", { className: "quiet", textContent: "with tool_calls, see JSON" })];
    }
    const input = element("input", {
      type: "text",
      value: plainText(message["tool_call_id"] ?? ""),
      placeholder: "tool_call_id",
    });
    input.setAttribute("aria-label", "tool_call_id");
    input.addEventListener("input", () => {
      message["tool_call_id"] = input.value;
      this.#change(this.#messages);
    });
    return [input];
  }
}
