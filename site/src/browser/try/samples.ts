import { highlight } from "../../markdown/highlight.ts";
import { codeSamples, getSample } from "../../try/code-samples.ts";
import type { JsonObject } from "../../try/schema.ts";
import { addCopyButtons } from "../copy.ts";
import { makeTabs } from "../tabs.ts";
import { element } from "./element.ts";

/** The request as programs, in tabs. */
export class Samples {
  readonly #codes = new Map<string, HTMLElement>();
  readonly #tabs: HTMLElement;
  readonly #single = element("code");
  readonly #figure = element("figure", { className: "code", hidden: true }, copyButton(), block(this.#single));

  constructor(box: HTMLElement) {
    const sections = codeSamples({}, "").map(({ label }) => {
      const code = element("code");
      this.#codes.set(label, code);
      const section = element("section", {}, copyButton(), block(code));
      section.dataset["tab"] = label;
      return section;
    });
    this.#tabs = element("div", { className: "tabs code" }, ...sections);
    box.replaceChildren(this.#tabs, this.#figure);
    makeTabs(box);
    addCopyButtons(box);
  }

  /** @param body the body as it is sent */
  showChat(request: JsonObject, body: string): void {
    this.#tabs.hidden = false;
    this.#figure.hidden = true;
    for (const { label, code } of codeSamples(request, body)) {
      const target = this.#codes.get(label);
      if (target) colour(target, code, label);
    }
  }

  showGet(path: string): void {
    this.#tabs.hidden = true;
    this.#figure.hidden = false;
    const { code, label } = getSample(path);
    colour(this.#single, code, label);
  }
}

/** `highlight` escapes everything that it does not colour. */
function colour(target: HTMLElement, code: string, label: string): void {
  target.innerHTML = highlight(code, label === "curl" ? "sh" : label.startsWith("Python") ? "python" : "ts");
}

const copyButton = (): HTMLButtonElement =>
  element("button", { type: "button", className: "copy", textContent: "Copy", hidden: true });

const block = (code: HTMLElement): HTMLElement => element("pre", { tabIndex: 0 }, code);
