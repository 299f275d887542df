import { compile } from "@parley/contract/validator";
import type { Judge } from "@parley/contract/validator";
import type { Answer, Document, JsonObject } from "@parley/contract/document";
import { resolveAnswer } from "@parley/contract/document";
import contract from "@parley/contract/contract.json" with { type: "json" };

// Checks every answer in a test against the contract. An answer that the contract does not declare fails the test that got
// it.

const document = contract as unknown as Document; // the document that the server itself uses

/** A received answer. The names of its headers are in lower case. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Envelope {
  readonly error: { readonly code: string; readonly type: string };
  readonly request_id: string;
}

/** Returns the ways in which an answer breaks the contract; empty if it does not. */
export function findFaults(received: Received): string[] {
  if (!received.path.startsWith("/v1") && received.status < 400) return []; // outside the contract
  const { answer, isDeclared } = declaredAnswer(received);
  const faults = received.status >= 400 ? errorFaults(received) : [];
  if (!isDeclared) faults.push(`${received.method} ${received.path} does not declare ${received.status}`);
  return [...faults, ...(answer ? [...headerFaults(answer, received), ...bodyFaults(answer, received)] : [])];
}

export function assertLawful(received: Received): void {
  const faults = findFaults(received);
  if (faults.length === 0) return;
  const { method, path, status, body } = received;
  throw new Error(`${method} ${path} → ${status} breaks the contract:\n${faults.join("\n")}\n${body.slice(0, 2000)}`);
}

function declaredAnswer({ method, path, status, body }: Received): { answer?: Answer; isDeclared: boolean } {
  const item = pathItem(path);
  const edge = document["x-edge-statuses"][String(status)];
  const isEdge = edge !== undefined && body.includes(`"${edge.code}"`);
  if (!item) return { isDeclared: isEdge || status === 401 || status === 204 };
  const isOwn = method === "GET" ? item.get : item.post;
  // A wrong method gets the 405 that an operation of this path declares.
  const answer = (isOwn ?? item.get ?? item.post)?.responses[String(status)];
  if (answer && !(isEdge && body.includes('"param":null') && status === 400)) {
    return { answer: resolveAnswer(document, answer), isDeclared: true };
  }
  return { isDeclared: isEdge || status === 204 };
}

/** The paths with a parameter, which may have a slash. */
const parameterPaths = ["/v1/models/{model}", "/v1/usage/{request_id}"].map(
  (template) => [new RegExp(`^${template.replace(/\{\w+\}/, ".*[^/]")}$`), template] as const,
);

function pathItem(path: string): Document["paths"][string] | undefined {
  const [bare = ""] = path.split("?", 1);
  const [, template] = parameterPaths.find(([pattern]) => pattern.test(bare)) ?? [];
  return document.paths[bare] ?? (template === undefined ? undefined : document.paths[template]);
}

function headerFaults({ headers = {} }: Answer, { headers: received, status }: Received): string[] {
  const limits = Object.keys(headers).filter((name) => name.startsWith("x-ratelimit-"));
  const shown = limits.filter((name) => name in received);
  const isPartial = shown.length > 0 && shown.length < limits.length;
  const faults = isPartial ? [`of the six limit headers, only ${shown.join(", ")}`] : [];
  const ofHeaders = Object.entries(headers).flatMap(([name, described]) => {
    // The bundled document has references to headers, which headers.yaml defines.
    const header = resolveHeader(described) as { required?: boolean; schema: JsonObject };
    const value = received[name.toLowerCase()];
    if (value === undefined) return header.required === true ? [`the header ${name} is missing on ${status}`] : [];
    const isNumber = header.schema["type"] === "integer";
    return judgeFor(header.schema)(isNumber ? Number(value) : value).map((fault) => `header ${name}: ${fault}`);
  });
  return [...faults, ...ofHeaders];
}

function resolveHeader(described: JsonObject): JsonObject {
  const { $ref } = described;
  const name = typeof $ref === "string" ? $ref.split("/").at(-1) : undefined;
  const headers = contract.components.headers as unknown as Record<string, JsonObject>;
  return (name === undefined ? undefined : headers[name]) ?? described;
}

function bodyFaults({ content = {} }: Answer, { headers, body, method }: Received): string[] {
  const [type = ""] = (headers["content-type"] ?? "").split(";");
  const schema = content[type]?.schema;
  if (!schema) return [`the media type ${type} is not declared`];
  return type === "application/json" && method !== "HEAD" ? judgeFor(schema)(JSON.parse(body)) : [];
}

function errorFaults({ method, status, headers, body }: Received): string[] {
  if (method === "HEAD") return body === "" ? [] : ["an answer to HEAD has a body"];
  if (headers["content-type"] !== "application/json; charset=utf-8") return ["an error is not application/json"];
  const shape = judgeFor({ $ref: "#/components/schemas/ErrorResponse" })(JSON.parse(body));
  if (shape.length > 0) return shape;
  const { error, request_id } = JSON.parse(body) as Envelope; // checked by the schema above
  const entry = document["x-error-catalog"][error.code];
  const edge = document["x-edge-statuses"][String(status)];
  const faults = request_id === headers["x-request-id"] ? [] : ["request_id is not x-request-id"];
  if (entry?.status !== status && edge?.code !== error.code) faults.push(`${error.code} does not go with ${status}`);
  if (entry?.type !== error.type) faults.push(`${error.code} does not go with ${error.type}`);
  const hasLimits = Object.keys(headers).some((name) => name.startsWith("x-ratelimit-"));
  if (status === 401 && hasLimits) faults.push("a 401 shows limits");
  return faults;
}

let compileSchema: ((schema: JsonObject) => Judge) | undefined;
const judges = new Map<string, Judge>();

/** Returns a validator of a schema. A member that the contract does not declare is a fault. */
export function judgeFor(schema: JsonObject): Judge {
  compileSchema ??= compile(document, true);
  const key = JSON.stringify(schema);
  const judge = judges.get(key) ?? compileSchema(schema);
  judges.set(key, judge);
  return judge;
}
