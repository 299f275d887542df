import type { Draft } from "./draft.ts";
import { subschemasOf } from "./keywords.ts";
import { isObject, isSchema } from "./raw-schema.ts";
import type { Schema, SchemaObject } from "./raw-schema.ts";

/** The base of a schema without an absolute `$id`. Nothing is ever fetched from it. */
const unnamedBase = "schema://document/";

/** Resolves the references of one document: every `$id`, `$anchor` and JSON Pointer. */
export class References {
  readonly #root: Schema;
  readonly #draft: Draft | undefined;
  /** Schemas that have an identifier, by absolute URI without its fragment. */
  readonly #resources = new Map<string, Schema>();
  readonly #anchors = new Map<string, SchemaObject>();
  readonly #bases = new Map<SchemaObject, string>();

  constructor(root: Schema, draft: Draft | undefined) {
    this.#root = root;
    this.#draft = draft;
    this.#resources.set(unnamedBase, root);
    if (isObject(root)) this.#register(root, unnamedBase);
  }

  /** Returns the schema that `ref` means inside of `from`, or undefined if the document has none. */
  resolve(ref: string, from: SchemaObject): Schema | undefined {
    const base = this.#bases.get(from) ?? unnamedBase;
    const uri = plainFragment.test(ref) ? base + ref : resolveUri(ref, base);
    if (uri === undefined) return undefined;
    const [resource, fragment] = splitFragment(uri);
    const anchored = this.#anchors.get(uri);
    if (anchored) return anchored;
    const target = this.#resources.get(resource);
    const found = target === undefined ? undefined : this.#follow(target, fragment, resource);
    // Many schemas have an "id" that is not meant to change the base of "#/…".
    return found ?? (ref.startsWith("#") ? this.#follow(this.#root, fragment, unnamedBase) : undefined);
  }

  /** Registers a schema and all subschemas, in document order. A document may nest deeper than the call stack. */
  #register(root: SchemaObject, base: string): void {
    const open: [schema: SchemaObject, base: string][] = [[root, base]];
    for (let next = open.pop(); next; next = open.pop()) {
      const [schema, outer] = next;
      if (this.#bases.has(schema)) continue;
      const inner = this.#identify(schema, outer);
      this.#bases.set(schema, inner);
      for (const child of subschemasOf(schema).toReversed()) if (isObject(child)) open.push([child, inner]);
    }
  }

  /** Registers the identifiers of a schema, and returns the base of the references inside it. */
  #identify(schema: SchemaObject, base: string): string {
    const isRefAlone = this.#draft !== undefined && this.#draft <= 7 && typeof schema["$ref"] === "string";
    if (isRefAlone) return base;
    const id = this.#idOf(schema);
    const uri = id === undefined ? undefined : resolveUri(id, base);
    const [own, fragment] = uri === undefined ? [base, ""] : splitFragment(uri);
    if (uri !== undefined && fragment === "" && !this.#resources.has(own)) this.#resources.set(own, schema);
    if (uri !== undefined && fragment !== "") this.#anchors.set(uri, schema);
    for (const name of [schema["$anchor"], schema["$dynamicAnchor"]])
      if (typeof name === "string") this.#anchors.set(`${own}#${name}`, schema);
    return own;
  }

  #idOf(schema: SchemaObject): string | undefined {
    const id = schema["$id"] ?? (this.#draft === undefined || this.#draft === 4 ? schema["id"] : undefined);
    return typeof id === "string" ? id : undefined;
  }

  #follow(resource: Schema, fragment: string, base: string): Schema | undefined {
    if (fragment === "") return resource;
    if (!fragment.startsWith("/")) return undefined;
    let node: unknown = resource;
    let inner = base;
    for (const token of fragment.slice(1).split("/")) {
      const step = decodeToken(token);
      if (step === undefined || typeof node !== "object" || node === null || !Object.hasOwn(node, step))
        return undefined;
      // The line above has proven that the member is there.
      node = (node as Record<string, unknown>)[step];
      inner = isObject(node) ? (this.#bases.get(node) ?? inner) : inner;
    }
    if (isObject(node)) this.#register(node, inner);
    return isSchema(node) ? node : undefined;
  }
}

/** Nearly all references have this form. They need no URI parser, which would take much longer than the rest. */
const plainFragment = /^#[\w/$.~-]*$/;

function resolveUri(reference: string, base: string): string | undefined {
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
}

function splitFragment(uri: string): [resource: string, fragment: string] {
  const at = uri.indexOf("#");
  return at < 0 ? [uri, ""] : [uri.slice(0, at), uri.slice(at + 1)];
}

function decodeToken(token: string): string | undefined {
  try {
    return decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined; // an invalid percent escape
  }
}
