import type { ExampleCall } from "./example-calls.ts";

/**
 * Writes the calls as a Postman collection, with a folder per tag and a test for each answer. The library
 * `openapi-to-postmanv2` is not used: it makes only one request per operation, and takes the server `/` for an address.
 * @see https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html
 */
export function postmanCollection(calls: readonly ExampleCall[]): string {
  const groups = [...new Set(calls.map(({ group }) => group))];
  const collection = {
    info: {
      name: "Parley",
      description: "Every operation and every example of the contract. Set the variables `base_url` and `key` first.",
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    variable: [
      { key: "base_url", value: "http://127.0.0.1:8080" },
      { key: "key", value: "your-key" },
      { key: "request_id", value: "" },
    ],
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{key}}", type: "string" }] },
    item: groups.map((name) => ({ name, item: calls.filter(({ group }) => group === name).map(itemOf) })),
  };
  return `${JSON.stringify(collection, undefined, 1)}\n`;
}

function itemOf(call: ExampleCall): object {
  // The receipt of the last chat request of the collection.
  const path = call.operationId === "retrieveReceipt" ? "/v1/usage/{{request_id}}" : call.path;
  return {
    name: call.title,
    request: {
      method: call.method,
      header: call.body === undefined ? [] : [{ key: "Content-Type", value: "application/json" }],
      url: { raw: `{{base_url}}${path}`, host: ["{{base_url}}"], path: path.split("/").slice(1) },
      ...(call.body !== undefined && { body: { mode: "raw", raw: JSON.stringify(call.body, undefined, 2) } }),
    },
    event: [{ listen: "test", script: { type: "text/javascript", exec: testsOf(call) } }],
  };
}

const isStream = ({ body }: ExampleCall): boolean =>
  typeof body === "object" && body !== null && !Array.isArray(body) && body["stream"] === true;

const testsOf = (call: ExampleCall): string[] => [
  'pm.test("is answered with 200", () => pm.response.to.have.status(200));',
  ...(call.body === undefined
    ? []
    : ['pm.collectionVariables.set("request_id", pm.response.headers.get("x-request-id"));']),
  ...(isStream(call)
    ? ['pm.test("is a whole stream", () => pm.expect(pm.response.text().trim().endsWith("data: [DONE]")).to.be.true);']
    : []),
];
