import { complete, placeAt } from "../../try/complete.ts";
import type { Completion } from "../../try/complete.ts";
import type { Schema, Schemas } from "../../try/schema.ts";
import { element } from "./element.ts";

/** The request as JSON, with names and values that fit at the caret. Ctrl and the space bar take the first of them. */
export class JsonEditor {
  readonly #area = element("textarea", { id: "json", rows: 16, spellcheck: false, className: "json-area" });
  readonly #list = element("div", { className: "completions" });
  readonly #schemas: Schemas;
  readonly #request: Schema;
  /** Returns the ids that `model` offers. */
  readonly #models: () => readonly string[];
  #completions: readonly Completion[] = [];
  #start = 0;

  constructor(
    box: HTMLElement,
    {
      schemas,
      request,
      models,
      change,
    }: {
      readonly schemas: Schemas;
      readonly request: Schema;
      readonly models: () => readonly string[];
      readonly change: (text: string) => void;
    },
  ) {
    this.#schemas = schemas;
    this.#request = request;
    this.#models = models;
    const label = element("label", {
      htmlFor: "json",
      className: "hidden",
      textContent: "Body of the request as JSON",
    });
    const hint = element(
      "p",
      { className: "hint", id: "json-hint" },
      element("kbd", { textContent: "Ctrl" }),
      " ",
      element("kbd", { textContent: "Space" }),
      " takes the first suggestion",
    );
    this.#area.setAttribute("aria-describedby", "json-hint");
    this.#list.setAttribute("role", "group");
    this.#list.setAttribute("aria-label", "Suggestions at the caret");
    box.replaceChildren(label, this.#area, this.#list, hint);
    this.#area.addEventListener("input", () => change(this.#area.value));
    for (const name of ["input", "keyup", "click", "focus"]) this.#area.addEventListener(name, () => this.#suggest());
    this.#area.addEventListener("keydown", (event) => {
      const [first] = this.#completions;
      if (event.key !== " " || !event.ctrlKey || !first) return;
      event.preventDefault();
      this.#insert(first);
    });
  }

  set(text: string): void {
    this.#area.value = text;
    this.#area.rows = Math.min(24, Math.max(10, text.split("\n").length + 1));
    this.#show([]);
  }

  #suggest(): void {
    const place = placeAt(this.#area.value, this.#area.selectionStart);
    this.#start = place?.start ?? 0;
    this.#show(place ? complete(this.#schemas, this.#request, place, this.#models()) : []);
  }

  #show(completions: readonly Completion[]): void {
    const before = this.#completions.map(({ text }) => text).join();
    this.#completions = completions;
    if (before === completions.map(({ text }) => text).join()) return;
    const buttons = completions.map((completion) => {
      const button = element("button", { type: "button", textContent: completion.label });
      button.addEventListener("click", () => this.#insert(completion));
      return button;
    });
    this.#list.replaceChildren(...buttons);
  }

  #insert({ text }: Completion): void {
    this.#area.focus();
    // An opening quotation mark of the word is replaced, too. One that closes it already goes as well.
    const end = this.#area.selectionStart;
    const isClosed = this.#area.value[this.#start] === '"' && this.#area.value[end] === '"';
    this.#area.setRangeText(text, this.#start, isClosed ? end + 1 : end, "end");
    this.#area.dispatchEvent(new Event("input"));
  }
}
