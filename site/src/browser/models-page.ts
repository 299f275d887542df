import { add, formatDecimal, multiply, parseDecimal } from "./exact-decimals.ts";
import type { Decimal } from "./exact-decimals.ts";

// The calculator of costs, and the models of this server for a reader with a key.

const form = document.querySelector<HTMLFormElement>("form.calculator");
const result = form?.querySelector("output");
const select = form?.querySelector("select");

const field = (name: string): HTMLInputElement | null =>
  form?.querySelector<HTMLInputElement>(`input[name="${name}"]`) ?? null;
const decimalOf = (name: string): Decimal | undefined => parseDecimal(field(name)?.value ?? "");

/** Returns a whole number that a reader may have written with separators. */
function countOf(name: string): bigint | undefined {
  const text = (field(name)?.value ?? "").replaceAll(/[\s,_']/g, "");
  return /^\d{1,15}$/.test(text) ? BigInt(text) : undefined;
}

function calculate(): void {
  if (!result) return;
  const [prompt, completion, request] = [decimalOf("prompt"), decimalOf("completion"), decimalOf("request")];
  const [read, written, answers] = [countOf("prompt-tokens"), countOf("completion-tokens"), countOf("answers")];
  if (!prompt || !completion || !request || read === undefined || written === undefined || answers === undefined) {
    result.textContent = "Prices are decimals such as 0.0000003, and counts are whole numbers.";
    return;
  }
  const one = add(add(multiply(prompt, read), multiply(completion, written)), request);
  const all = multiply(one, answers);
  result.textContent = `$${formatDecimal(one)} an answer, $${formatDecimal(all)} for ${answers.toLocaleString("en")} answers`;
}

/** Fills in the prices of the chosen model. */
function choose(): void {
  const option = select?.selectedOptions[0];
  for (const name of ["prompt", "completion", "request"]) {
    const input = field(name);
    if (input && option?.dataset[name] !== undefined) input.value = option.dataset[name];
  }
  calculate();
}

interface ListedModel {
  readonly id: string;
  readonly pricing: Readonly<Record<"prompt" | "completion" | "request", string>>;
}

async function loadModels(key: string): Promise<string> {
  const response = await fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } });
  // The contract describes both bodies.
  const body = (await response.json()) as { data?: readonly ListedModel[]; error?: { message: string } };
  if (!body.data) return body.error?.message ?? `The server answered with ${response.status}.`;
  const options = body.data.map(({ id, pricing: { prompt, completion, request } }) => {
    const option = Object.assign(document.createElement("option"), { value: id, textContent: id });
    Object.assign(option.dataset, { prompt, completion, request });
    return option;
  });
  select?.replaceChildren(...options);
  choose();
  return `${options.length} models of this server are in the list, with their prices.`;
}

form?.addEventListener("submit", (event) => event.preventDefault());
form?.addEventListener("input", (event) => (event.target === select ? choose() : calculate()));
form?.querySelector("button")?.addEventListener("click", () => {
  const status = form.querySelector("[role=status]");
  const say = (text: string): void => {
    if (status) status.textContent = text;
  };
  loadModels(field("key")?.value ?? "").then(say, () => say("The server could not be reached."));
});
if (form) form.hidden = false;
choose();
