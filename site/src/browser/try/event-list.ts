import { plainText } from "../../try/schema.ts";
import type { Json, JsonObject } from "../../try/schema.ts";
import { element } from "./element.ts";
import { prettyJson } from "./show-answer.ts";

/** Events that are shown. Later ones are only counted, so a long answer does not slow down the page. */
const maxShown = 600;

/** Returns the part in which an event differs from its neighbours. */
function partOf(data: string): string {
  // `prettyJson` has parsed this text.
  const { choices, usage, error } = JSON.parse(data) as { choices?: JsonObject[]; usage?: Json; error?: JsonObject };
  if (error) return `error ${plainText(error["code"])}`;
  const [choice] = choices ?? [];
  if (!choice) return `usage ${JSON.stringify(usage ?? null)}`;
  const { index, delta, finish_reason: reason } = choice;
  const place = index === 0 ? "" : `choice ${plainText(index)} `;
  return typeof reason === "string" ? `${place}finish_reason ${reason}` : `${place}delta ${JSON.stringify(delta)}`;
}

/** The raw events of an answer, or its whole body. Each opens to show its JSON with indentation. */
export class EventList {
  readonly #box: HTMLElement;
  readonly #count = element("p", { className: "quiet" });
  readonly #prefix: string;
  count = 0;

  /** @param isStream true if each text is the data of an event */
  constructor(box: HTMLElement, isStream: boolean) {
    this.#box = box;
    this.#prefix = isStream ? "data: " : "";
    box.replaceChildren(this.#count);
  }

  add(data: string, isError: boolean): void {
    this.count += 1;
    this.#count.textContent =
      this.#prefix === "" ? "The whole body" : `${this.count} ${this.count === 1 ? "event" : "events"}`;
    if (this.count > maxShown && !isError && data !== "[DONE]") return;
    const isAtEnd = this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight < 40;
    this.#box.append(this.#row(data, isError));
    if (isAtEnd && this.#prefix !== "") this.#box.scrollTop = this.#box.scrollHeight;
  }

  #row(data: string, isError: boolean): HTMLElement {
    const pretty = prettyJson(data);
    if (this.#prefix === "") return element("pre", { textContent: pretty ?? data });
    const raw = element("code", { textContent: this.#prefix + data });
    if (pretty === undefined) return element("p", { className: "raw-event" }, raw);
    const title = element("summary", {}, element("b", { textContent: partOf(data) }), raw);
    const row = element("details", { className: `raw-event${isError ? " bad" : ""}` }, title);
    row.addEventListener("toggle", () => {
      if (row.open && row.childElementCount === 1) row.append(element("pre", { textContent: pretty }));
    });
    return row;
  }
}
