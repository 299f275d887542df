import contract from "../generated/contract.json" with { type: "json" };

/** The contract as data: the committed bundle, so that nothing has to be built to start. */
export type Contract = typeof contract;

export const loadContract = (): Contract => contract;

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/**
 * The copy that the validator may have. It writes `default`s into bodies and follows `discriminator.mapping` in a way
 * that breaks schemas with references; examples only cost it time.
 */
export function validatorCopy(document: Contract): object {
  const strip = (node: Json, parent: string): Json => {
    if (Array.isArray(node)) return node.map((item) => strip(item, parent));
    if (typeof node !== "object" || node === null) return node;
    const isNamed = parent === "properties" || parent === "schemas";
    const members = Object.entries(node).filter(([name]) => isNamed || !isDropped(name, parent));
    return Object.fromEntries(members.map(([name, value]) => [name, strip(value, isNamed ? "" : name)]));
  };
  // The bundle was imported from JSON. A server given by a variable would make no path match.
  return Object.assign({}, strip(document, ""), { servers: [{ url: "/" }] });
}

const isDropped = (name: string, parent: string): boolean =>
  name === "default" || name === "examples" || name === "example" || (name === "mapping" && parent === "discriminator");
