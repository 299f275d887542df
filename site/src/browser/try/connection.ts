import { demoKey } from "../../try/demo-answer.ts";
import type { DemoData } from "../../try/demo-answer.ts";
import { isObject, plainText } from "../../try/schema.ts";
import type { JsonObject, TryData } from "../../try/schema.ts";
import { isServiceThere, startDemo, stopDemo } from "./demo.ts";
import { byId, element } from "./element.ts";
import { send } from "./send.ts";
import { showFailure } from "./show-failure.ts";

/** A model of the list, as far as the pages use it. */
export interface Model {
  readonly id: string;
  readonly prices: { readonly prompt: string; readonly cached: string; readonly completion: string };
}

/** Loads the data of the page and opens its connection. */
export async function openConnection(): Promise<Connection> {
  const answer = await fetch("/docs/try.json");
  // The build has written this file.
  const connection = new Connection((await answer.json()) as TryData);
  await connection.choose(!(await isServiceThere()));
  return connection;
}

/** The key, the models that it may use, and the demo. The key is in the field and nowhere else. */
export class Connection {
  readonly data: TryData;
  readonly model = byId("model", HTMLSelectElement);
  models: readonly Model[] = [];
  /** The data of the demo while it is on. */
  demo: DemoData | undefined;
  /** Called when the list of models or the demo has changed. */
  onChange: () => void = () => undefined;
  readonly #key = byId("key", HTMLInputElement);
  readonly #switch = byId("demo", HTMLInputElement);
  readonly #status = byId("connection-status", HTMLElement);
  readonly #notice = byId("demo-notice", HTMLElement);
  #ownKey = "";
  /** The key whose models were asked for last. */
  #asked = "";
  #loading = new AbortController();

  constructor(data: TryData) {
    this.data = data;
    this.#show(data.models);
    this.#key.addEventListener("change", () => this.#key.value !== this.#asked && void this.loadModels());
    // Enter in the field of the key must not send the request of the form.
    this.#key.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      void this.loadModels();
    });
    this.#switch.addEventListener("change", () => void this.choose(this.#switch.checked));
  }

  /** The headers of a request. @param type the content type of its body, if it has one */
  headers(type?: string): Record<string, string> {
    const key = this.#key.value.trim();
    return {
      ...(key !== "" && { authorization: `Bearer ${key}` }),
      ...(type !== undefined && { "content-type": type }),
      ...(this.demo && { "x-parley-demo": "1" }),
    };
  }

  /** Switches the demo on or off. Each of the two has its own key in the field. */
  async choose(isDemo: boolean): Promise<void> {
    const wasDemo = this.demo !== undefined;
    if (!wasDemo) this.#ownKey = this.#key.value;
    try {
      this.demo = isDemo ? await startDemo() : undefined;
      if (!isDemo) await stopDemo();
    } catch (error) {
      this.#status.replaceChildren(element("p", { className: "failure", textContent: messageOf(error) }));
    }
    const isOn = this.demo !== undefined;
    this.#switch.checked = isOn;
    this.#notice.hidden = !isOn;
    this.#notice.replaceChildren(
      element("b", { textContent: "This is a demo. " }),
      "No server and no model answer here: a service worker in your browser plays recordings. Its key is ",
      element("code", { textContent: demoKey }),
      ".",
    );
    this.#key.value = isOn ? demoKey : this.#ownKey;
    if (isOn || wasDemo) await this.loadModels();
    this.onChange();
  }

  /** Asks for the models of the key. Without a key, the models of the contract's example stay. */
  async loadModels(): Promise<void> {
    this.#loading.abort();
    this.#loading = new AbortController();
    this.#asked = this.#key.value;
    if (this.#key.value.trim() === "") return this.#status.replaceChildren();
    const { signal } = this.#loading;
    const outcome = await send(
      { method: "GET", path: "/v1/models", headers: this.headers(), signal },
      { head: () => undefined, event: (_, value) => this.#showList(value) },
    );
    if (outcome.kind === "failed") this.#status.replaceChildren(showFailure(outcome.failure, this.data.errorCodes));
  }

  #showList(list: JsonObject | undefined): void {
    const models = Array.isArray(list?.["data"]) ? list["data"].filter(isObject) : [];
    this.#show(models);
    const count = models.length === 1 ? "1 model" : `${models.length} models`;
    this.#status.replaceChildren(element("p", { className: "quiet", textContent: `${count} for this key.` }));
    this.onChange();
  }

  #show(models: readonly JsonObject[]): void {
    this.models = models.map(({ id, pricing }) => {
      const price = (name: string, otherwise = "0"): string =>
        isObject(pricing) && typeof pricing[name] === "string" ? pricing[name] : otherwise;
      const prompt = price("prompt");
      const prices = { prompt, cached: price("input_cache_read", prompt), completion: price("completion") };
      return { id: plainText(id), prices };
    });
    const chosen = this.model.value;
    this.model.replaceChildren(...this.models.map(({ id }) => element("option", { value: id, textContent: id })));
    if (this.models.some(({ id }) => id === chosen)) this.model.value = chosen;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
