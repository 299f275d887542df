import type { Json, JsonObject, Schema, Schemas } from "../../try/schema.ts";
import type { Fault } from "../../try/validate.ts";
import { element } from "./element.ts";
import { makeField } from "./field.ts";
import type { Field } from "./field.ts";
import { MessagesField } from "./messages-field.ts";

/** Members that the form shows at once. The others are folded. */
const mainMembers = ["stream", "max_completion_tokens", "temperature", "reasoning_effort"];

/** The form sets this member together with `stream`, so its presence does not unfold the others. */
const ownMember = "stream_options";

/** The request as a form. Its controls are made from the schema of the request. */
export class RequestForm {
  readonly #fields = new Map<string, Field>();
  readonly #messages: MessagesField;
  readonly #more: HTMLDetailsElement;

  /** @param change receives the name of a member and its new value; undefined: it is not sent */
  constructor(
    box: HTMLElement,
    schemas: Schemas,
    request: Schema,
    change: (name: string, value: Json | undefined) => void,
  ) {
    this.#messages = new MessagesField((messages) => change("messages", messages));
    const offered = Object.entries(request.properties ?? {}).filter(
      ([name, schema]) =>
        name !== "model" && name !== "messages" && schema["x-ignored"] !== true && schema["x-error-code"] === undefined,
    );
    for (const [name, schema] of offered) {
      this.#fields.set(
        name,
        makeField(schemas, name, schema, (value) => change(name, value)),
      );
    }
    const boxes = (isMain: boolean): HTMLElement[] =>
      [...this.#fields].flatMap(([name, { box: one }]) => (mainMembers.includes(name) === isMain ? [one] : []));
    this.#more = element(
      "details",
      { className: "more" },
      element("summary", { textContent: `${offered.length - mainMembers.length} more members` }),
      element("div", { className: "entries" }, ...boxes(false)),
    );
    box.replaceChildren(this.#messages.box, element("div", { className: "entries" }, ...boxes(true)), this.#more);
  }

  set(request: JsonObject): void {
    this.#messages.set(request["messages"]);
    for (const [name, field] of this.#fields) field.set(request[name]);
    const names = Object.keys(request);
    if (names.some((name) => name !== ownMember && this.#fields.has(name) && !mainMembers.includes(name)))
      this.#more.open = true;
  }

  update(name: string, value: Json | undefined): void {
    this.#fields.get(name)?.set(value);
  }

  /** Checks whether a fault of this member is shown at its control. */
  shows(param: string): boolean {
    const name = /^\w*/.exec(param)?.[0] ?? "";
    return name === "messages" || this.#fields.has(name);
  }

  /** Shows each fault at the control of its member. */
  mark(faults: readonly Fault[]): void {
    const nameOf = ({ param }: Fault): string => /^\w*/.exec(param)?.[0] ?? "";
    const first = new Map(faults.toReversed().map((fault) => [nameOf(fault), fault] as const));
    for (const [name, field] of this.#fields) {
      const fault = first.get(name);
      field.mark(fault && (fault.param === name ? fault.message : `${fault.param}: ${fault.message}`));
      if (fault && !mainMembers.includes(name)) this.#more.open = true;
    }
    const fault = first.get("messages");
    this.#messages.mark(fault?.param, fault?.message);
  }
}
