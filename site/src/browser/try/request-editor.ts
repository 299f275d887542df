import { isObject, requestSchema } from "../../try/schema.ts";
import type { Json, JsonObject } from "../../try/schema.ts";
import { validateRequest } from "../../try/validate.ts";
import type { Fault } from "../../try/validate.ts";
import type { Connection } from "./connection.ts";
import { byId, element, withCode } from "./element.ts";
import { JsonEditor } from "./json-editor.ts";
import { RequestForm } from "./request-form.ts";

/** The body of a chat request, as a form and as JSON. Both show the same request. */
export class RequestEditor {
  /** The body as it is sent. */
  body = "";
  request: JsonObject = {};
  /** Called after every change. */
  onChange: () => void = () => undefined;
  readonly #connection: Connection;
  readonly #form: RequestForm;
  readonly #json: JsonEditor;
  readonly #faults = byId("faults", HTMLElement);
  readonly #tabs = ["form", "json"].map((name) => ({
    button: byId(`tab-${name}`, HTMLButtonElement),
    panel: byId(`as-${name}`, HTMLElement),
  }));
  #isJson = false;

  constructor(connection: Connection) {
    this.#connection = connection;
    const { schemas } = connection.data;
    const schema = schemas[requestSchema] ?? {};
    this.#form = new RequestForm(byId("as-form", HTMLElement), schemas, schema, (name, value) =>
      this.#setMember(name, value),
    );
    this.#json = new JsonEditor(byId("as-json", HTMLElement), {
      schemas,
      request: schema,
      models: () => connection.models.map(({ id }) => id),
      change: (text) => this.#setText(text),
    });
    connection.model.addEventListener("change", () => {
      this.#setMember("model", connection.model.value);
      this.#json.set(this.body);
    });
    for (const [at, { button }] of this.#tabs.entries()) {
      button.addEventListener("click", () => this.#choose(at));
      button.addEventListener("keydown", ({ key }) => {
        if (key !== "ArrowLeft" && key !== "ArrowRight") return;
        this.#choose(1 - at);
        this.#tabs[1 - at]?.button.focus();
      });
    }
  }

  /** Shows another request. */
  set(request: JsonObject): void {
    this.request = structuredClone(request);
    this.#form.set(this.request);
    this.#write();
    this.#json.set(this.body);
    this.#followModel();
  }

  /** Shows the fault that the service has found, until the request changes. */
  showRefusal(param: string, code: string, message: string): void {
    const fault = { param, code, message: `The service says: ${message}` };
    this.#show([fault]);
  }

  #choose(chosen: number): void {
    this.#isJson = chosen === 1;
    for (const [at, { button, panel }] of this.#tabs.entries()) {
      button.setAttribute("aria-selected", String(at === chosen));
      button.tabIndex = at === chosen ? 0 : -1;
      panel.hidden = at !== chosen;
    }
    if (this.#isJson) this.#json.set(this.body);
    else this.#form.set(this.request);
    this.#validate();
  }

  #setMember(name: string, value: Json | undefined): void {
    if (value === undefined) delete this.request[name];
    else this.request[name] = value;
    if (name === "stream") {
      // A stream has usage only if it is asked for, and only a stream may ask.
      if (value === true) this.request["stream_options"] ??= { include_usage: true };
      else delete this.request["stream_options"];
      this.#form.update("stream_options", this.request["stream_options"]);
    }
    this.#write();
  }

  #setText(text: string): void {
    this.body = text;
    try {
      // JSON.parse returns JSON.
      const value = JSON.parse(text) as Json;
      this.request = isObject(value) ? value : {};
      this.#followModel();
    } catch {
      // The list of faults says so.
    }
    this.#validate();
    this.onChange();
  }

  #write(): void {
    this.body = JSON.stringify(this.request, undefined, 2);
    this.#validate();
    this.onChange();
  }

  /** Selects the model of the request in the list, which gets an entry for one that it lacks. */
  #followModel(): void {
    const { model } = this.#connection;
    const name = typeof this.request["model"] === "string" ? this.request["model"] : "";
    if (name === "" || model.value === name) return;
    if (![...model.options].some(({ value }) => value === name))
      model.append(element("option", { value: name, textContent: name }));
    model.value = name;
  }

  #validate(): void {
    let value: Json;
    try {
      // JSON.parse returns JSON.
      value = JSON.parse(this.body) as Json;
    } catch (error) {
      return this.#show([
        { param: "", code: "invalid_json", message: `This is not JSON: ${(error as Error).message}` },
      ]); // a SyntaxError
    }
    this.#show(validateRequest(this.#connection.data.schemas, { $ref: requestSchema }, value));
  }

  #show(faults: readonly Fault[]): void {
    this.#form.mark(faults);
    const listed = this.#isJson ? faults : faults.filter(({ param }) => !this.#form.shows(param));
    this.#faults.replaceChildren(
      ...listed.slice(0, 8).map(({ param, message }) => {
        const name = param === "" ? [] : [element("code", { textContent: param }), " "];
        return element("p", { className: "fault" }, ...name, ...withCode(message));
      }),
    );
  }
}
