import type { Document, Json } from "@parley/contract/document";

/** An example request of the contract. */
export interface ExampleCall {
  readonly operationId: string;
  readonly title: string;
  /** The tag of its operation. */
  readonly group: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: Json;
}

/** Returns a call of every operation. If its body has examples, there is a call for each of them. */
export function exampleCalls(contract: Document): ExampleCall[] {
  return Object.entries(contract.paths).flatMap(([template, { get, post }]) => {
    const path = fillIn(contract, template);
    return [get && { method: "GET" as const, ...get }, post && { method: "POST" as const, ...post }]
      .filter((operation) => operation !== undefined)
      .flatMap(({ operationId, method, summary, tags: [group = ""], requestBody }) => {
        const call = { operationId, group, method, path };
        const bodies = Object.values(requestBody?.content["application/json"]?.examples ?? {});
        if (bodies.length === 0) return [{ ...call, title: summary }];
        return bodies.map((example) => ({ ...call, title: example.summary, body: example.value }));
      });
  });
}

/** Fills the examples of the parameters into the path. */
function fillIn({ components }: Document, template: string): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = Object.values(components.parameters).find((one) => one.in === "path" && one.name === name);
    if (!parameter) throw new Error(`the contract has no parameter ${name}`);
    return encodeURIComponent(parameter.example);
  });
}
