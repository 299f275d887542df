import type { Gathered, GatheredCall, GatheredChoice } from "../../try/gather.ts";
import { element } from "./element.ts";

/** Shows an answer and updates it while it arrives: only texts that have changed are written. */
export class AnswerView {
  readonly #box: HTMLElement;
  readonly #choices: ChoiceView[] = [];

  constructor(box: HTMLElement) {
    this.#box = box;
    box.replaceChildren();
  }

  show({ choices }: Gathered, isWhole = false): void {
    for (const [at, choice] of choices.entries()) {
      const view = (this.#choices[at] ??= this.#add(at));
      view.show(choice, isWhole);
    }
    if (choices.length > 1) this.#box.classList.add("several");
  }

  #add(at: number): ChoiceView {
    const view = new ChoiceView(at);
    this.#box.append(view.element);
    return view;
  }
}

class ChoiceView {
  readonly element: HTMLElement;
  readonly #reasoning = element("p", { className: "text" });
  readonly #thought = element(
    "details",
    { className: "reasoning", open: true, hidden: true },
    element("summary", { textContent: "Reasoning" }),
    this.#reasoning,
  );
  readonly #text = element("div", { className: "text" });
  readonly #calls = element("div", {});
  readonly #finish = element("p", { className: "finish quiet", hidden: true });

  constructor(at: number) {
    const title = element("p", { className: "choice-title", textContent: `Choice ${at + 1}` });
    this.element = element("div", { className: "choice" }, title, this.#thought, this.#text, this.#calls, this.#finish);
  }

  show({ text, reasoning, calls, finish }: GatheredChoice, isWhole: boolean): void {
    this.#thought.hidden = reasoning === "";
    append(this.#reasoning, reasoning);
    append(this.#text, text);
    if (isWhole) this.#text.replaceChildren(...withBlocks(text));
    if (calls.length > 0) this.#calls.replaceChildren(...calls.map((call) => showCall(call)));
    this.#finish.hidden = finish === null;
    this.#finish.classList.toggle("cut", finish === "length" || finish === "content_filter");
    this.#finish.textContent =
      finish === "length" ? "Cut: the maximum of tokens was reached (length)." : `finish_reason: ${finish}`;
  }
}

/** Sets a text. One that only grew gets a new piece at its end, so a selection stays. */
function append(to: HTMLElement, text: string): void {
  const before = to.textContent ?? "";
  if (before === text) return;
  if (text.startsWith(before)) to.append(text.slice(before.length));
  else to.textContent = text;
}

/** Returns a text with its blocks of code, and JSON with indentation. */
function withBlocks(text: string): (Node | string)[] {
  const pretty = prettyJson(text);
  if (pretty !== undefined) return [element("pre", { className: "json", textContent: pretty })];
  return text.split(/\n*```[\w-]*\n*/).map((part, at) => (at % 2 === 1 ? element("pre", { textContent: part }) : part));
}

/** Returns an object or a list with indentation, or undefined for any other text. */
export function prettyJson(text: string): string | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return undefined;
  }
}

const showCall = ({ id, name, arguments: given }: GatheredCall): HTMLElement =>
  element(
    "div",
    { className: "call" },
    element(
      "p",
      {},
      "Call of ",
      element("code", { textContent: name }),
      element("span", { className: "quiet", textContent: ` ${id}` }),
    ),
    element("pre", { textContent: prettyJson(given) ?? given }),
  );
