import { decimalProduct, decimalSum } from "@parley/contract/decimal";
import { cannot } from "./finding.ts";
import { textAt } from "./read.ts";

interface Counts {
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
}

/** Returns the cost in US dollars by the prices of a model object. A model without a price of cached tokens has one price for all. */
export function exactCost(model: unknown, { prompt, cached, completion }: Counts): string {
  const price = (name: string): string =>
    textAt(model, `/pricing/${name}`) ?? cannot(`the model object has no price ${name}`);
  return decimalSum(
    decimalProduct(price("prompt"), prompt - cached),
    decimalProduct(textAt(model, "/pricing/input_cache_read") ?? price("prompt"), cached),
    decimalProduct(price("completion"), completion),
    price("request"),
  );
}
