import { ExactNumber } from "../json/exact-number.ts";
import { SchemaTooComplexError } from "../complexity-budget.ts";
import { isKnownFormat } from "../language/number-formats.ts";
import { MalformedSchemaError, UnenforceableKeywordError } from "../schema-fault.ts";
import { draftOf } from "./draft.ts";
import type { Draft } from "./draft.ts";
import { keywordOf } from "./keywords.ts";
import { normalize } from "./normalize.ts";
import { isDeeperThan, isObject, isSchema, joinPath } from "./raw-schema.ts";
import type { Schema, SchemaObject } from "./raw-schema.ts";
import { References } from "./references.ts";
import type { SchemaNode, SchemaWord } from "./schema-node.ts";

export interface ReadSchema {
  readonly root: SchemaNode;
  /**
   * The members that are not keywords of the draft. Keywords such as `title` are keywords, although they do not constrain
   * values.
   */
  readonly annotations: readonly SchemaWord[];
}

/** The largest number of subschemas, of characters in names and literals, and of levels in one schema. */
export const schemaBounds = { subschemas: 5000, characters: 120_000, levels: 128 } as const;

/**
 * Reads every subschema that can apply to a value: from the root, through keywords and references.
 * @param omitted paths of keywords to leave out
 * @throws {MalformedSchemaError} where a keyword is not valid, or a reference leads nowhere
 * @throws {UnenforceableKeywordError}
 * @throws {SchemaTooComplexError}
 */
export function readSchema(root: boolean | object, omitted: ReadonlySet<string> = new Set()): ReadSchema {
  if (!isSchema(root)) {
    const reason = "a JSON Schema is an object, true or false";
    throw new MalformedSchemaError({ path: "", keyword: null, reason });
  }
  return new SchemaReader(root, omitted).read();
}

/** A subschema that was referred to and is not read yet. */
interface Pending {
  readonly raw: SchemaObject;
  readonly node: SchemaNode;
  readonly level: number;
}

class SchemaReader {
  readonly #root: Schema;
  readonly #omitted: ReadonlySet<string>;
  readonly #draft: Draft | undefined;
  readonly #references: References;
  readonly #nodes = new Map<SchemaObject, SchemaNode>();
  readonly #pending: Pending[] = [];
  readonly #annotations: SchemaWord[] = [];
  #subschemas = 0;
  #characters = 0;

  constructor(root: Schema, omitted: ReadonlySet<string>) {
    this.#root = root;
    this.#omitted = omitted;
    this.#draft = draftOf(root);
    this.#references = new References(root, this.#draft);
  }

  read(): ReadSchema {
    const root = this.#nodeOf(this.#root, "", 0);
    for (let next = this.#pending.pop(); next; next = this.#pending.pop()) {
      const named = this.#pending.length;
      this.#fill(next);
      // The first subschema of this one is read next. So faults are found in the order of the document.
      this.#pending.push(...this.#pending.splice(named).toReversed());
    }
    return { root, annotations: this.#annotations };
  }

  #nodeOf(raw: Schema, path: string, level: number): SchemaNode {
    this.#subschemas += 1;
    if (this.#subschemas > schemaBounds.subschemas || level > schemaBounds.levels) throw tooLarge();
    if (typeof raw === "boolean") return { path, keywords: raw ? {} : undefined };
    const known = this.#nodes.get(raw);
    if (known) return known;
    const node: SchemaNode = { path, keywords: {} };
    this.#nodes.set(raw, node);
    this.#pending.push({ raw, node, level });
    return node;
  }

  #fill({ raw, node, level }: Pending): void {
    const words = this.#knownWords(raw, node.path);
    const child = (value: unknown, step: string): SchemaNode => {
      // The value of each keyword was checked before, so this value is a schema.
      return this.#nodeOf(value as Schema, joinPath(node.path, step), level + 1);
    };
    const refer = (ref: string): SchemaNode => this.#refer(ref, raw, node.path);
    const refuse = (keyword: string, reason: string): never => {
      throw new UnenforceableKeywordError({ path: joinPath(node.path, keyword), keyword, reason });
    };
    node.keywords = normalize(words, child, refer, refuse);
  }

  #refer(ref: string, from: SchemaObject, path: string): SchemaNode {
    const target = this.#references.resolve(ref, from);
    if (target !== undefined) return this.#nodeOf(target, pathOfTarget(ref, path), 0);
    const reason = `"$ref" points at nothing inside this schema`;
    throw new MalformedSchemaError({ path: joinPath(path, "$ref"), keyword: "$ref", reason });
  }

  /** The members of a schema that its draft knows and that constrain values. */
  #knownWords(raw: SchemaObject, path: string): Map<string, unknown> {
    const known = new Map<string, unknown>();
    const isRefAlone = this.#draft !== undefined && this.#draft <= 7 && typeof raw["$ref"] === "string";
    for (const [word, value] of Object.entries(raw)) {
      const at = joinPath(path, word);
      if (this.#omitted.has(at)) continue;
      const keyword = keywordOf(word, this.#draft);
      if (keyword?.isAnnotation === true && keyword.isValid(value)) continue;
      if (keyword === undefined || keyword.isAnnotation === true || (isRefAlone && word !== "$ref")) {
        this.#annotations.push({ path: at, word });
        continue;
      }
      if (literals.has(word) && isDeeperThan(schemaBounds.levels, value)) throw tooLarge();
      if (!keyword.isValid(value)) {
        const reason = `the value of "${word}" is not valid JSON Schema`;
        throw new MalformedSchemaError({ path: at, keyword: word, reason });
      }
      if (word === "format" && !isKnownFormat(String(value))) {
        this.#annotations.push({ path: at, word });
        continue;
      }
      refuseHugeNumber(value, at, word);
      this.#countCharacters(value);
      known.set(word, value);
    }
    return known;
  }

  #countCharacters(value: unknown): void {
    if (typeof value === "string") this.#characters += JSON.stringify(value).length;
    else if (isObject(value)) this.#characters += Object.keys(value).join("").length;
    else if (Array.isArray(value) && !value.some(isSchema)) this.#characters += JSON.stringify(value).length;
    if (this.#characters > schemaBounds.characters) throw tooLarge();
  }
}

/** The keywords whose value may be nested without having subschemas. */
const literals: ReadonlySet<string> = new Set(["const", "enum"]);

/** Returns the path of the target of a `$ref` that is a JSON Pointer, or else the path of the schema with the `$ref`. */
function pathOfTarget(ref: string, path: string): string {
  const at = ref.indexOf("#/");
  return at < 0 ? path : ref.slice(at + 2).replaceAll("/", ".");
}

/** The maximum number of digits of a schema's number before or after the point. Every double has fewer. */
const maxDigits = 400;

/** @throws {UnenforceableKeywordError} where a number of the value takes too many digits to write without an exponent */
function refuseHugeNumber(value: unknown, path: string, keyword: string): void {
  if (value instanceof ExactNumber) {
    const { digits, exponent } = value.decimal;
    if (Math.abs(exponent) + digits.length <= maxDigits) return;
    const shown = value.text.length > 40 ? `${value.text.slice(0, 40)}…` : value.text;
    const reason = `the number ${shown} has more than ${maxDigits} digits when it is written without an exponent`;
    throw new UnenforceableKeywordError({ path, keyword, reason });
  }
  if (Array.isArray(value)) for (const item of value) refuseHugeNumber(item, path, keyword);
  else if (isObject(value) && literals.has(keyword))
    for (const item of Object.values(value)) refuseHugeNumber(item, path, keyword);
}

const tooLarge = (): SchemaTooComplexError =>
  new SchemaTooComplexError(
    `the schema is too large to enforce (at most ${schemaBounds.subschemas} subschemas on ${schemaBounds.levels} levels ` +
      `and ${schemaBounds.characters} characters of names and literals)`,
  );
