import type { Gathered } from "../../try/gather.ts";
import { priceOf, sum } from "./money.ts";
import { element } from "./element.ts";
import type { Model } from "./connection.ts";

/** Shows the cost of an answer and of all answers since the page was opened, in exact decimals. */
export class Cost {
  readonly #box: HTMLElement;
  #total = "0";

  constructor(box: HTMLElement) {
    this.#box = box;
  }

  /** The cost while an answer arrives: a lower bound, because an event has one token or more. */
  running({ parts, usage }: Gathered, model: Model | undefined): void {
    if (usage || !model) return;
    this.#show(
      `at least $${priceOf(model.prices.completion, parts)}`,
      ` so far (${parts} tokens or more, without the prompt)`,
    );
  }

  /** Adds the cost of a whole answer. Only `usage` has the exact number of tokens. */
  end({ usage, choices }: Gathered, model: Model | undefined): void {
    if (choices.length === 0) return;
    if (!usage)
      return this.#show("", "This stream has no usage. Set stream_options.include_usage to see the exact cost.");
    const { prompt, cached, completion, cost } = usage;
    this.#total = sum([this.#total, cost]);
    const { prices } = model ?? {};
    const isCheaper = cached > 0 && prices?.cached !== prices?.prompt;
    const promptCost = isCheaper
      ? `${prompt - cached} × $${prices?.prompt} + ${cached} cached × $${prices?.cached}`
      : `${prompt} × $${prices?.prompt}`;
    const factors = prices
      ? ` = ${promptCost} + ${completion} × $${prices.completion}`
      : ` for ${prompt} + ${completion} tokens`;
    this.#show(`$${cost}`, factors);
  }

  /** A failure of the service costs nothing. */
  none(): void {
    this.#show("", "This answer costs nothing.");
  }

  #show(amount: string, about: string): void {
    this.#box.hidden = false;
    this.#box.replaceChildren(
      ...(amount === "" ? [] : ["Cost ", element("b", { textContent: amount })]),
      about,
      ...(this.#total === "0"
        ? []
        : [element("span", { className: "quiet", textContent: ` · this page so far $${this.#total}` })]),
    );
  }
}
