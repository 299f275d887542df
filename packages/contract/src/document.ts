/** A JSON value of unknown shape. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export interface CatalogEntry {
  status: number;
  type: string;
  title: string;
  description: string;
  remedy: string;
  retry: { helps: "never" | "after-wait" | "maybe"; wait: "none" | "retry-after" | "backoff" };
  headers: string[];
  param: "required" | "optional" | null;
  in_stream: boolean;
}

export interface Limit {
  value: number;
  unit: string;
  description: string;
}

export interface Example {
  summary: string;
  value: Json;
}

export interface Transcript {
  summary: string;
  /** In the source: the file with the text. In the bundle, the text is the value. */
  file?: string;
  value: string;
  "x-inputs": { n: number; include_usage: boolean };
}

export interface MediaType {
  schema: JsonObject;
  itemSchema?: JsonObject;
  examples: Record<string, Example>;
  /** Whole streams, by name. */
  "x-transcripts"?: Record<string, Transcript>;
}

export interface Answer {
  $ref?: string;
  description?: string;
  headers?: Record<string, JsonObject>;
  content?: Record<string, MediaType>;
}

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  description: string;
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, Answer>;
}

/** The bundled contract, as far as the tests read it. */
export interface Document {
  openapi: string;
  info: { description: string };
  paths: Record<string, { get?: Operation; post?: Operation }>;
  components: {
    schemas: Record<string, JsonObject>;
    responses: Record<string, Answer>;
    parameters: Record<string, { name: string; in: string; example: string }>;
  };
  "x-error-catalog": Record<string, CatalogEntry>;
  "x-edge-statuses": Record<string, { code: string; description: string }>;
  "x-limits": Record<string, Limit>;
  "x-engine-members": readonly string[];
  "x-streams": JsonObject;
}

/** An entry of `x-unsupported-members`. */
export interface UnsupportedMember {
  member: string;
  use: string;
  harmless?: readonly unknown[];
}

/** Returns the value at a JSON Pointer, or undefined if there is none. */
export function valueAt(value: unknown, pointer: string): unknown {
  const steps = pointer.split("/").slice(1);
  return steps.reduce<unknown>((inner, step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const hasIt = typeof inner === "object" && inner !== null && Object.hasOwn(inner, name);
    // The line above proves that the member exists.
    return hasIt ? (inner as Record<string, unknown>)[name] : undefined;
  }, value);
}

/** Yields every object inside a value, and the value itself. */
export function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  // An array is treated like an object, because only its members matter.
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const member of Object.values(value)) yield* objectsIn(member);
}

/** Returns the operations of the contract. */
export function operationsOf(document: Document): Operation[] {
  return Object.values(document.paths).flatMap(({ get, post }) => [get, post].filter((one) => one !== undefined));
}

/** Follows the reference of an answer, if it is one. */
export function resolveAnswer(document: Document, answer: Answer): Answer {
  if (!answer.$ref) return answer;
  // All references of a bundle lead into the bundle. A broken one fails when it is used.
  return valueAt(document, answer.$ref.slice(1)) as Answer;
}
