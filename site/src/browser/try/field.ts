import { allowsType, jsonOrText, plainText, resolve } from "../../try/schema.ts";
import type { Json, Schema, Schemas } from "../../try/schema.ts";
import { element } from "./element.ts";

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** A control for one member of the request, made from its schema. */
export interface Field {
  readonly box: HTMLElement;
  set(value: Json | undefined): void;
  /** Shows a fault beside the control, or removes it. */
  mark(message: string | undefined): void;
}

/** @param change receives the new value, or undefined if the member is not sent */
export function makeField(
  schemas: Schemas,
  name: string,
  schema: Schema,
  change: (value: Json | undefined) => void,
): Field {
  const id = `field-${name}`;
  const { control, toText, parse } = makeControl(schemas, schema);
  control.id = id;
  const fault = element("small", { className: "fault", id: `${id}-fault`, hidden: true });
  const about = element("small", { id: `${id}-about`, textContent: resolve(schemas, schema).description ?? "" });
  control.setAttribute("aria-describedby", `${id}-about ${id}-fault`);
  control.addEventListener("input", () => change(control.value === "" ? undefined : parse(control.value)));
  const label = element("label", { htmlFor: id }, element("code", { textContent: name }));
  return {
    box: element(
      "div",
      { className: `field${control instanceof HTMLTextAreaElement ? " tall" : ""}` },
      label,
      control,
      fault,
      about,
    ),
    set: (value) => {
      control.value = value === undefined ? "" : toText(value);
    },
    mark: (message) => mark(control, fault, message),
  };
}

/** Shows or removes the fault of a control. */
export function mark(control: HTMLElement, fault: HTMLElement, message: string | undefined): void {
  fault.hidden = message === undefined;
  fault.textContent = message ?? "";
  if (message === undefined) control.removeAttribute("aria-invalid");
  else control.setAttribute("aria-invalid", "true");
}

interface Maker {
  readonly control: Control;
  readonly toText: (value: Json) => string;
  readonly parse: (text: string) => Json;
}

function makeControl(schemas: Schemas, outer: Schema): Maker {
  const values = enumOf(schemas, outer);
  const allows = (type: string): boolean => allowsType(schemas, outer, type);
  if (!allows("object") && !allows("array") && (values.length > 0 || allows("boolean"))) {
    const choices = values.length > 0 ? values : [true, false];
    const options = ["", ...choices.map((one) => plainText(one))].map((value) =>
      element("option", { value, textContent: value || "not sent" }),
    );
    return {
      control: element("select", {}, ...options),
      toText: plainText,
      parse: (text) => (values.length > 0 ? text : text === "true"),
    };
  }
  if (allows("number") || allows("integer")) {
    const { minimum, maximum, exclusiveMinimum } = resolve(schemas, outer);
    const least = exclusiveMinimum === undefined ? minimum : `above ${exclusiveMinimum}`;
    const range =
      maximum === undefined ? (least === undefined ? "" : `at least ${least}`) : `${least ?? ""} to ${maximum}`;
    const control = element("input", { type: "text", inputMode: "decimal", placeholder: range });
    return {
      control,
      toText: plainText,
      parse: jsonOrText,
    };
  }
  if (!allows("object") && !allows("array"))
    return {
      control: element("input", { type: "text" }),
      toText: plainText,
      parse: (text) => text,
    };
  const control = element("textarea", { rows: 2, spellcheck: false, placeholder: "JSON" });
  return { control, toText: (value) => JSON.stringify(value, undefined, 2), parse: jsonOrText };
}

/** Returns the values that a schema, or one of its alternatives, allows. */
function enumOf(schemas: Schemas, outer: Schema): Json[] {
  const schema = resolve(schemas, outer);
  return [...(schema.enum ?? []), ...(schema.oneOf ?? []).flatMap((one) => enumOf(schemas, one))];
}
