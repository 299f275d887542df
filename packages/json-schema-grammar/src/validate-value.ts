import { compareNumbers, isInteger, isJsonNumber } from "./json/exact-number.ts";
import type { JsonNumber } from "./json/exact-number.ts";
import { ComplexityBudget, SchemaTooComplexError } from "./complexity-budget.ts";
import { canonical, isDeeperThan, isObject } from "./dialect/raw-schema.ts";
import type { JsonType, SchemaObject } from "./dialect/raw-schema.ts";
import { readSchema } from "./dialect/read-schema.ts";
import type { Keywords, SchemaNode } from "./dialect/schema-node.ts";
import { Language } from "./language/language.ts";
import { numberFormat } from "./language/number-formats.ts";
import { NumberSet } from "./language/number-set.ts";

const maxLevels = 200;

/**
 * Checks if a value satisfies a schema, according to the keywords that a grammar enforces. It agrees with the schema's grammar,
 * except that it ignores the order of members and white space.
 * @param value as `JSON.parse` or `parseJson` returns it, with at most 200 levels where the schema looks into it
 * @throws {MalformedSchemaError} {UnenforceableKeywordError} {SchemaTooComplexError}
 */
export function satisfies(schema: boolean | object, value: unknown, budget = new ComplexityBudget()): boolean {
  return new Validator(budget).accepts(readSchema(schema).root, value, 0);
}

class Validator {
  readonly #budget: ComplexityBudget;
  readonly #languages = new Map<string, Language>();

  constructor(budget: ComplexityBudget) {
    this.#budget = budget;
  }

  accepts({ keywords }: SchemaNode, value: unknown, depth: number): boolean {
    this.#budget.spend(1);
    if (depth > maxLevels) throw tooDeep();
    if (keywords === undefined) return false;
    const holds = (schema: SchemaNode): boolean => this.accepts(schema, value, depth + 1);
    return (
      acceptsType(keywords, value) &&
      this.#acceptsLiteral(keywords, value) &&
      (typeof value !== "string" || this.#acceptsString(keywords, value)) &&
      (!isJsonNumber(value) || this.#acceptsNumber(keywords, value)) &&
      (!Array.isArray(value) || this.#acceptsItems(keywords, value, depth)) &&
      (!isObject(value) || this.#acceptsMembers(keywords, value, depth)) &&
      acceptsCombinations(keywords, holds)
    );
  }

  #acceptsLiteral({ literals = [] }: Keywords, value: unknown): boolean {
    const text = literals.length > 0 ? canonicalText(value) : "";
    return literals.every((options) => {
      this.#budget.spend(options.length);
      return options.some((option) => canonical(option) === text);
    });
  }

  #acceptsString({ minLength = 0, maxLength = Infinity, pattern, format }: Keywords, value: string): boolean {
    const length = Array.from(value).length;
    return (
      length >= minLength &&
      length <= maxLength &&
      (pattern === undefined || this.#matches(pattern, value)) &&
      (format === undefined || Language.format(format)?.includes(value) !== false)
    );
  }

  #matches(pattern: string, value: string): boolean {
    const language = this.#languages.get(pattern) ?? Language.pattern(pattern, this.#budget);
    this.#languages.set(pattern, language);
    return language.includes(value);
  }

  #acceptsNumber(keywords: Keywords, value: JsonNumber): boolean {
    const format = numberFormat(keywords.format);
    if (format?.bounds && !this.#acceptsNumber(format.bounds, value)) return false;
    if (format?.isInteger === true && !isInteger(value)) return false;
    if (format && !Number.isFinite(Number(String(value)))) return false;
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = keywords;
    return (
      (minimum === undefined || compareNumbers(value, minimum) >= 0) &&
      (maximum === undefined || compareNumbers(value, maximum) <= 0) &&
      (exclusiveMinimum === undefined || compareNumbers(value, exclusiveMinimum) > 0) &&
      (exclusiveMaximum === undefined || compareNumbers(value, exclusiveMaximum) < 0) &&
      (multipleOf === undefined || NumberSet.multiplesOf(multipleOf, this.#budget).includes(value))
    );
  }

  #acceptsItems(keywords: Keywords, value: readonly unknown[], depth: number): boolean {
    const { prefixItems = [], items, minItems = 0, maxItems = Infinity, uniqueItems, contains } = keywords;
    const isValid = (schema: SchemaNode | undefined, item: unknown): boolean =>
      schema === undefined || this.accepts(schema, item, depth + 1);
    this.#budget.spend(value.length);
    if (value.length < minItems || value.length > maxItems) return false;
    if (uniqueItems === true && new Set(value.map(canonicalText)).size < value.length) return false;
    if (!value.every((item, index) => isValid(prefixItems[index] ?? items, item))) return false;
    if (!contains) return true;
    const found = value.filter((item) => isValid(contains, item)).length;
    return found >= (keywords.minContains ?? 1) && found <= (keywords.maxContains ?? Infinity);
  }

  #acceptsMembers(keywords: Keywords, value: SchemaObject, depth: number): boolean {
    const { required = [], minProperties = 0, maxProperties = Infinity, propertyNames } = keywords;
    const names = Object.keys(value);
    const holds = (schema: SchemaNode): boolean => this.accepts(schema, value, depth + 1);
    this.#budget.spend(names.length);
    return (
      required.every((name) => Object.hasOwn(value, name)) &&
      names.length >= minProperties &&
      names.length <= maxProperties &&
      names.every((name) => propertyNames === undefined || this.accepts(propertyNames, name, depth + 1)) &&
      Object.entries(value).every(([name, item]) =>
        this.#schemasOf(keywords, name).every((schema) => this.accepts(schema, item, depth + 1)),
      ) &&
      acceptsDependencies(keywords, value, holds)
    );
  }

  /** The schemas of the member of that name. */
  #schemasOf(keywords: Keywords, name: string): SchemaNode[] {
    const { properties, patternProperties = new Map<string, SchemaNode>(), additionalProperties } = keywords;
    const declared = properties?.get(name);
    const matching = [...patternProperties].filter(([pattern]) => this.#matches(pattern, name));
    const schemas = [...(declared ? [declared] : []), ...matching.map(([, schema]) => schema)];
    return schemas.length === 0 && additionalProperties ? [additionalProperties] : schemas;
  }
}

const tooDeep = (): SchemaTooComplexError =>
  new SchemaTooComplexError(`a value is validated on more than ${maxLevels} levels`);

function canonicalText(value: unknown): string {
  if (isDeeperThan(maxLevels, value)) throw tooDeep();
  return canonical(value);
}

function acceptsType({ type }: Keywords, value: unknown): boolean {
  return type === undefined || type.some((one) => isOfType(one, value));
}

function isOfType(type: JsonType, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "number" || type === "integer") return isJsonNumber(value) && (type === "number" || isInteger(value));
  return typeof value === type;
}

function acceptsCombinations(keywords: Keywords, holds: (schema: SchemaNode) => boolean): boolean {
  const { $ref, allOf = [], anyOf, oneOf, not } = keywords;
  const branch = keywords.if && (holds(keywords.if) ? keywords.then : keywords.else);
  return (
    ($ref === undefined || holds($ref)) &&
    allOf.every(holds) &&
    (anyOf === undefined || anyOf.some(holds)) &&
    (oneOf === undefined || oneOf.filter(holds).length === 1) &&
    (not === undefined || !holds(not)) &&
    (branch === undefined || holds(branch))
  );
}

function acceptsDependencies(
  { dependentRequired, dependentSchemas }: Keywords,
  value: SchemaObject,
  holds: (schema: SchemaNode) => boolean,
): boolean {
  const has = (name: string): boolean => Object.hasOwn(value, name);
  return (
    [...(dependentRequired ?? [])].every(([name, needed]) => !has(name) || needed.every(has)) &&
    [...(dependentSchemas ?? [])].every(([name, schema]) => !has(name) || holds(schema))
  );
}
