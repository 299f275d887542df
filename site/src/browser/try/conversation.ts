import { gather, nothing } from "../../try/gather.ts";
import type { Gathered, GatheredCall } from "../../try/gather.ts";
import { sum } from "./money.ts";
import type { JsonObject } from "../../try/schema.ts";
import type { Connection } from "./connection.ts";
import { element } from "./element.ts";
import { send } from "./send.ts";
import type { Outcome } from "./send.ts";
import { AnswerView } from "./show-answer.ts";
import { showFailure } from "./show-failure.ts";

export interface ConversationState {
  readonly isRunning: boolean;
  /** True if the last answer can be asked for again. */
  readonly canRetry: boolean;
}

/** A chat: its messages, and the answer that is being written. A failed or stopped answer is not sent with later requests. */
export class Conversation {
  onChange: (state: ConversationState) => void = () => undefined;
  onClear: () => void = () => undefined;
  readonly #connection: Connection;
  readonly #log: HTMLElement;
  readonly #state: HTMLElement;
  readonly #request: (messages: readonly JsonObject[]) => JsonObject;
  readonly #empty: string;
  #messages: JsonObject[] = [];
  /** The element of the last answer, and the messages before it. */
  #last: { readonly box: HTMLElement; readonly before: readonly JsonObject[] } | undefined;
  #running: AbortController | undefined;
  #spent = "0";

  /** @param request returns the request for the next answer to messages */
  constructor(
    connection: Connection,
    log: HTMLElement,
    state: HTMLElement,
    request: (messages: readonly JsonObject[]) => JsonObject,
  ) {
    this.#connection = connection;
    this.#log = log;
    this.#state = state;
    this.#request = request;
    this.#empty = log.innerHTML;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  async say(text: string): Promise<void> {
    if (this.isRunning) return;
    this.#add("user", "You", element("div", { className: "text", textContent: text }));
    this.#messages.push({ role: "user", content: text });
    await this.#answer();
  }

  async retry(): Promise<void> {
    if (this.isRunning || !this.#last) return;
    this.#last.box.remove();
    this.#messages = [...this.#last.before];
    await this.#answer();
  }

  stop(): void {
    this.#running?.abort();
  }

  clear(): void {
    this.stop();
    this.#running = undefined;
    this.#messages = [];
    this.#last = undefined;
    // The page itself has written this.
    this.#log.innerHTML = this.#empty;
    this.#state.textContent = "";
    this.#report();
    this.onClear();
  }

  async #answer(): Promise<void> {
    const controller = new AbortController();
    this.#running = controller;
    const body = element("div", { className: "answer-body" });
    const messages = this.#messages;
    const box = this.#add("assistant", this.#connection.model.value, body);
    this.#last = { box, before: [...messages] };
    this.#report();
    this.#state.textContent = "The model is writing…";
    this.#log.setAttribute("aria-busy", "true");
    const view = new AnswerView(body);
    let answer: Gathered = nothing;
    const outcome = await send(
      {
        method: "POST",
        path: "/v1/chat/completions",
        body: JSON.stringify(this.#request(messages)),
        headers: this.#connection.headers("application/json"),
        signal: controller.signal,
      },
      {
        head: () => undefined,
        event: (_, value) => {
          if (!value) return;
          answer = gather(answer, value);
          view.show(answer);
          this.#scroll();
        },
      },
    );
    // A new chat has begun meanwhile.
    if (messages !== this.#messages || this.#running !== controller) return;
    this.#running = undefined;
    this.#log.setAttribute("aria-busy", "false");
    view.show(answer, true);
    this.#end(outcome, answer, body);
    this.#report();
    this.#scroll();
  }

  #end(outcome: Outcome, answer: Gathered, body: HTMLElement): void {
    if (outcome.kind === "failed") {
      body.append(showFailure(outcome.failure, this.#connection.data.errorCodes, () => void this.retry()));
      this.#state.textContent = "The answer failed.";
      return;
    }
    const [choice] = answer.choices;
    if (outcome.kind === "stopped" || !choice) {
      body.append(
        element("p", { className: "quiet", textContent: "Stopped. This answer is not sent with later messages." }),
      );
      this.#state.textContent = "Stopped.";
      return;
    }
    this.#messages.push(toMessage(choice.text, choice.calls));
    if (choice.calls.length > 0) body.append(this.#results(choice.calls));
    this.#spent = sum([this.#spent, answer.usage?.cost ?? "0"]);
    const tokens = answer.usage?.completion ?? 0;
    this.#state.textContent = `The answer is complete. ${tokens} ${tokens === 1 ? "token" : "tokens"}, $${answer.usage?.cost ?? "0"}; this page so far $${this.#spent}.`;
  }

  /** Returns a form for the results of tools. Sending it continues the answer. */
  #results(calls: readonly GatheredCall[]): HTMLElement {
    const areas = calls.map(({ id, name }) => {
      const area = element("textarea", { rows: 2, value: '{"wei":"2500000000000000000"}', spellcheck: false });
      return { id, area, label: element("label", { className: "field" }, `Result of ${name}`, area) };
    });
    const button = element("button", { type: "submit", textContent: "Send the result" });
    const form = element("form", { className: "results" }, ...areas.map(({ label }) => label), button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.isRunning) return;
      button.disabled = true;
      for (const { id, area } of areas) {
        area.readOnly = true;
        this.#messages.push({ role: "tool", tool_call_id: id, content: area.value });
      }
      void this.#answer();
    });
    return form;
  }

  #add(role: string, name: string, body: HTMLElement): HTMLElement {
    document.getElementById("empty")?.remove();
    const box = element(
      "div",
      { className: `turn ${role}` },
      element("p", { className: "who", textContent: name }),
      body,
    );
    this.#log.append(box);
    this.#scroll();
    return box;
  }

  #scroll(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.#log;
    // Readers who have scrolled up are left where they are.
    if (scrollHeight - scrollTop - clientHeight < 200) this.#log.scrollTop = scrollHeight;
  }

  #report(): void {
    this.onChange({ isRunning: this.isRunning, canRetry: this.#last !== undefined });
  }
}

const toMessage = (text: string, calls: readonly GatheredCall[]): JsonObject =>
  calls.length === 0
    ? { role: "assistant", content: text }
    : {
        role: "assistant",
        content: text === "" ? null : text,
        tool_calls: calls.map(({ id, name, arguments: given }) => ({
          id,
          type: "function",
          function: { name, arguments: given },
        })),
      };
