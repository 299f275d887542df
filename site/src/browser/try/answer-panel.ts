import { gather, nothing } from "../../try/gather.ts";
import type { Gathered } from "../../try/gather.ts";
import { isObject } from "../../try/schema.ts";
import type { JsonObject } from "../../try/schema.ts";
import type { Model } from "./connection.ts";
import { Cost } from "./cost.ts";
import { byId } from "./element.ts";
import { EventList } from "./event-list.ts";
import type { Listener, Outcome } from "./send.ts";
import { AnswerView } from "./show-answer.ts";

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

const isStream = (response: Response): boolean =>
  response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;

/** The answer of a request: its text, its raw events, its state and its cost. */
export class AnswerPanel implements Listener {
  readonly #state = byId("state", HTMLElement);
  readonly #events = byId("events", HTMLElement);
  readonly #cost = new Cost(byId("cost", HTMLElement));
  /** Undefined until the first request: the page itself says what appears here. */
  #view: AnswerView | undefined;
  #list: EventList | undefined;
  #answer: Gathered = nothing;
  #isChat = true;
  #model: Model | undefined;
  #startedAt = 0;
  #firstMs: number | undefined;
  #ignored = "";

  /** Empties the panel. @param model its prices; undefined if the list of models lacks it */
  begin(isChat: boolean, model: Model | undefined): void {
    this.#isChat = isChat;
    // Other answers have a body and no text.
    this.#events.parentElement?.classList.toggle("alone", !isChat);
    this.#model = model;
    this.#answer = nothing;
    this.#ignored = "";
    this.#firstMs = undefined;
    this.#startedAt = performance.now();
    this.#view = new AnswerView(byId("choices", HTMLElement));
    this.#events.replaceChildren();
    this.#state.textContent = "Sent. Waiting for the answer…";
  }

  head(response: Response): void {
    this.#list = new EventList(this.#events, isStream(response));
    this.#ignored = response.headers.get("x-ignored-params") ?? "";
    this.#state.textContent = `HTTP ${response.status}. The answer arrives…`;
  }

  event(data: string, value: JsonObject | undefined): void {
    this.#firstMs ??= performance.now() - this.#startedAt;
    this.#list?.add(data, isObject(value?.["error"]));
    if (!value || !this.#isChat) return;
    this.#answer = gather(this.#answer, value);
    this.#view?.show(this.#answer);
    this.#cost.running(this.#answer, this.#model);
  }

  end({ kind }: Outcome): void {
    const first = this.#firstMs === undefined ? "" : `, the first event after ${seconds(this.#firstMs)}`;
    const took = seconds(performance.now() - this.#startedAt) + first;
    const ignored = this.#ignored === "" ? "" : ` Without effect (x-ignored-params): ${this.#ignored}.`;
    const states = {
      whole: `The whole answer took ${took}.${ignored}`,
      stopped: `Stopped after ${took}. The connection is closed, so the service stops, too. It charges the prompt and the tokens until then.`,
      failed: `Failed after ${took}.`,
    };
    this.#state.textContent = states[kind];
    if (!this.#isChat) return;
    this.#view?.show(this.#answer, true);
    if (kind === "failed") this.#cost.none();
    else if (kind === "whole") this.#cost.end(this.#answer, this.#model);
  }
}
