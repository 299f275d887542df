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

/** Returns the cost of one answer; undefined if a field is not a price or a count. */
function costOfAnswer(): Decimal | undefined {
  const [prompt, cached] = [decimalOf("prompt"), decimalOf("cached")];
  const [completion, request] = [decimalOf("completion"), decimalOf("request")];
  const [read, known, written] = [countOf("prompt-tokens"), countOf("cached-tokens"), countOf("completion-tokens")];
  if (!prompt || !cached || !completion || !request) return undefined;
  if (read === undefined || known === undefined || written === undefined || known > read) return undefined;
  const promptCost = add(multiply(prompt, read - known), multiply(cached, known));
  return add(add(promptCost, multiply(completion, written)), request);
}

function calculate(): void {
  if (!result) return;
  const found = costOfAnswer();
  const answers = countOf("answers");
  if (!found || answers === undefined) {
    result.textContent =
      "Prices are decimals such as 0.0000003, counts are whole numbers, and at most all prompt tokens are cached.";
    return;
  }
  const all = multiply(found, answers);
  result.textContent = `$${formatDecimal(found)} an answer, $${formatDecimal(all)} for ${answers.toLocaleString("en")} answers`;
}

/** Fills in the prices of the chosen model. */
function choose(): void {
  const option = select?.selectedOptions[0];
  for (const name of ["prompt", "cached", "completion", "request"]) {
    const input = field(name);
    if (input && option?.dataset[name] !== undefined) input.value = option.dataset[name];
  }
  calculate();
}

interface ListedModel {
  readonly id: string;
  readonly pricing: Readonly<Record<"prompt" | "completion" | "request", string>> & {
    readonly input_cache_read?: string;
  };
}

async function loadModels(key: string): Promise<string> {
  const response = await fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } });
  // The contract describes both bodies.
  const body = (await response.json()) as { data?: readonly ListedModel[]; error?: { message: string } };
  if (!body.data) return body.error?.message ?? `The server answered with ${response.status}.`;
  const options = body.data.map(({ id, pricing: { prompt, completion, request, input_cache_read = prompt } }) => {
    const option = Object.assign(document.createElement("option"), { value: id, textContent: id });
    Object.assign(option.dataset, { prompt, cached: input_cache_read, completion, request });
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
