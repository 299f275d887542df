import { compareNumbers, isJsonNumber } from "../json/exact-number.ts";
import type { JsonNumber } from "../json/exact-number.ts";
import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { ComplexityBudget } from "../complexity-budget.ts";
import { isObject, joinPath } from "../dialect/raw-schema.ts";
import type { JsonType } from "../dialect/raw-schema.ts";
import type { Keywords, SchemaNode } from "../dialect/schema-node.ts";
import { UnenforceablePatternError } from "../language/parse-pattern.ts";
import { Language } from "../language/language.ts";
import { numberFormat } from "../language/number-formats.ts";
import { maxCounted } from "../language/write-count.ts";
import { UnenforceableKeywordError } from "../schema-fault.ts";
import { trimmed } from "./array-set.ts";
import type { ArraySet } from "./array-set.ts";
import type { Condition, Conditions } from "./condition.ts";
import { Numbers } from "./numbers.ts";
import type { Member, ObjectSet } from "./object-set.ts";
import type { ValueAlgebra } from "./value-algebra.ts";
import type { ValueSet } from "./value-set.ts";

const anyType: readonly JsonType[] = ["null", "boolean", "string", "number", "array", "object"];

/** The values that satisfy those keywords of a schema that neither combine nor refer to other schemas of the same value. */
export class OwnKeywords {
  readonly #conditions: Conditions;
  readonly #algebra: ValueAlgebra;
  readonly #budget: ComplexityBudget;
  readonly #bounded = new Map<string, Numbers>();
  readonly #patterns = new Map<string, Language>();
  readonly #namesOf: (node: SchemaNode) => Language;

  /** @param namesOf the strings that satisfy a schema */
  constructor(
    conditions: Conditions,
    algebra: ValueAlgebra,
    budget: ComplexityBudget,
    namesOf: (node: SchemaNode) => Language,
  ) {
    this.#conditions = conditions;
    this.#algebra = algebra;
    this.#budget = budget;
    this.#namesOf = namesOf;
  }

  /** @throws {UnenforceableKeywordError} {SchemaTooComplexError} */
  valuesOf(node: SchemaNode, keywords: Keywords): ValueSet {
    const { everything } = this.#algebra;
    const types = keywords.type ?? anyType;
    const byType: ValueSet = {
      hasNull: types.includes("null"),
      booleans: types.includes("boolean") ? everything.booleans : [],
      strings: types.includes("string") ? this.#strings(node, keywords) : Language.none,
      numbers: this.#numbers(types, keywords),
      arrays: types.includes("array") ? this.#arrays(node, keywords) : [],
      objects: types.includes("object") ? this.#objects(node, keywords) : [],
    };
    const literals = (keywords.literals ?? []).map((values) => this.#literals(values, node.path));
    return literals.reduce((set, one) => this.#algebra.intersect(set, one), byType);
  }

  /** Values of any type; those that are objects have all of the members. */
  withMembers(names: readonly string[], isRequired: boolean): ValueSet {
    const member: Member = {
      condition: isRequired ? this.#conditions.anything : this.#conditions.impossible,
      isRequired,
    };
    const { everything } = this.#algebra;
    const objects = everything.objects.map((all) => ({
      ...all,
      members: new Map(names.map((name) => [name, member])),
    }));
    return { ...everything, objects };
  }

  /** Values of any type; those that are objects do not have the member. */
  withoutMember(name: string): ValueSet {
    return this.withMembers([name], false);
  }

  #strings(node: SchemaNode, { minLength = 0, maxLength = Infinity, pattern, format }: Keywords): Language {
    const formatted = format === undefined ? undefined : Language.shortFormat(format, maxLength, this.#budget);
    let language = formatted ?? Language.any;
    if (pattern !== undefined) {
      const matching = this.#pattern(pattern, joinPath(node.path, "pattern"), "pattern");
      language = language.intersect(matching, this.#budget);
    }
    const longest = formatted ? Infinity : maxLength;
    if (minLength === 0 && longest === Infinity) return language;
    if (minLength > maxCounted) {
      const reason = `"minLength" is more than ${maxCounted}, and no answer has that many characters`;
      throw new UnenforceableKeywordError({ path: joinPath(node.path, "minLength"), keyword: "minLength", reason });
    }
    return minLength > maxLength ? Language.none : language.withLength(minLength, longest, this.#budget);
  }

  #pattern(source: string, path: string, keyword: string): Language {
    const known = this.#patterns.get(source);
    if (known) return known;
    try {
      const language = Language.pattern(source, this.#budget);
      this.#patterns.set(source, language);
      return language;
    } catch (error) {
      if (!(error instanceof UnenforceablePatternError)) throw error;
      throw new UnenforceableKeywordError({ path, keyword, reason: error.message });
    }
  }

  #numbers(types: readonly JsonType[], keywords: Keywords): Numbers {
    if (!types.includes("number") && !types.includes("integer")) return Numbers.none;
    const format = numberFormat(keywords.format);
    const isAlone = format && boundKeywords.every((word) => keywords[word] === undefined);
    if (isAlone && (format.isInteger || types.includes("number"))) return Numbers.ofFormat(format);
    const isInteger = !types.includes("number") || format?.isInteger === true;
    const { exclusiveMinimum, exclusiveMaximum, multipleOf } = keywords;
    const minimum = further(keywords.minimum, format?.bounds?.minimum, 1);
    const maximum = further(keywords.maximum, format?.bounds?.maximum, -1);
    const bounds = { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf };
    const key = JSON.stringify([isInteger, bounds]);
    const numbers = this.#bounded.get(key) ?? Numbers.within(bounds, isInteger, this.#budget);
    this.#bounded.set(key, numbers);
    return numbers;
  }

  #literals(values: readonly unknown[], path: string): ValueSet {
    const numbers = values.filter(isJsonNumber);
    const strings = values.filter((value) => typeof value === "string");
    this.#budget.spend(values.length);
    return {
      hasNull: values.includes(null),
      booleans: [true, false].filter((value) => values.includes(value)),
      strings: strings.length === 0 ? Language.none : Language.of(strings, this.#budget),
      numbers: Numbers.of(numbers),
      arrays: values.filter((value) => Array.isArray(value)).map((items) => this.#literalArray(items, path)),
      objects: values.filter(isObject).map((members) => this.#literalObject(members, path)),
    };
  }

  #literalArray(items: readonly unknown[], path: string): ArraySet {
    return {
      prefix: items.map((item) => this.#conditions.literal(item, path)),
      rest: this.#conditions.impossible,
      min: items.length,
      max: items.length,
      contains: [],
      isUnique: false,
    };
  }

  #literalObject(members: object, path: string): ObjectSet {
    const entries = Object.entries(members).map(([name, value]): [string, Member] => [
      name,
      { condition: this.#conditions.literal(value, path), isRequired: true },
    ]);
    return { members: new Map(entries), free: [], min: 0, max: Infinity, witnesses: [] };
  }

  #arrays(node: SchemaNode, keywords: Keywords): readonly ArraySet[] {
    const { prefixItems = [], items, contains, minContains = 1, maxContains = Infinity } = keywords;
    const { minItems = 0, maxItems = Infinity, uniqueItems = false } = keywords;
    const set: ArraySet = {
      prefix: prefixItems.map((item) => this.#conditions.of(item)),
      rest: items ? this.#conditions.of(items) : this.#conditions.anything,
      min: minItems,
      max: maxItems,
      contains: contains
        ? [{ from: 0, condition: this.#conditions.of(contains), min: minContains, max: maxContains }]
        : [],
      isUnique: uniqueItems,
    };
    const isAny =
      set.prefix.length === 0 &&
      set.rest === this.#conditions.anything &&
      minItems === 0 &&
      maxItems === Infinity &&
      !contains &&
      !uniqueItems;
    return isAny ? this.#algebra.everything.arrays : this.#algebra.possibleArrays(trimmed(set, this.#conditions));
  }

  #objects(node: SchemaNode, keywords: Keywords): readonly ObjectSet[] {
    const { properties, required = [], minProperties = 0, maxProperties = Infinity } = keywords;
    const words = ["properties", "required", "patternProperties", "additionalProperties", "propertyNames"] as const;
    const isFree = words.every((word) => keywords[word] === undefined);
    if (isFree && minProperties === 0 && maxProperties === Infinity) return this.#algebra.everything.objects;
    const names = [...new Set([...(properties?.keys() ?? []), ...required])];
    this.#budget.spend(names.length);
    const needed = new Set(required);
    const classes = this.#classifyNames(node, keywords);
    const conditionOf = (name: string): Condition => {
      const found = classes.find((one) => one.names.includes(name));
      if (!found) return this.#conditions.impossible;
      const declared = properties?.get(name);
      return declared ? this.#conditions.and(this.#conditions.of(declared), found.pattern) : found.condition;
    };
    const members = names.map((name): [string, Member] => [
      name,
      { condition: conditionOf(name), isRequired: needed.has(name) },
    ]);
    const free = classes.filter(({ condition }) => condition !== this.#conditions.impossible);
    return this.#algebra.possibleObjects({
      members: new Map(members),
      free: free.map(({ names: some, condition }) => ({ names: some, condition })),
      min: minProperties,
      max: maxProperties,
      witnesses: [],
    });
  }

  /** Divides the names that may be written by the patterns that they match. */
  #classifyNames(node: SchemaNode, keywords: Keywords): NameClass[] {
    const { patternProperties = new Map<string, SchemaNode>(), additionalProperties, propertyNames } = keywords;
    const { anything } = this.#conditions;
    const names = propertyNames ? this.#namesOf(propertyNames) : Language.any;
    const unmatched = additionalProperties ? this.#conditions.of(additionalProperties) : anything;
    let classes: NameClass[] = [{ names, pattern: anything, condition: unmatched }];
    for (const [source, schema] of patternProperties) {
      const path = joinPath(node.path, `patternProperties.${source}`);
      const matching = this.#pattern(source, path, "patternProperties");
      const condition = this.#conditions.of(schema);
      classes = classes.flatMap((one) => this.#splitNames(one, matching, condition));
      if (classes.length > maxClasses)
        throw new SchemaTooComplexError(`"patternProperties" divides the names into more than ${maxClasses} classes`);
    }
    return classes.filter((one) => !one.names.isEmpty);
  }

  #splitNames(one: NameClass, matching: Language, condition: Condition): NameClass[] {
    const both = this.#conditions.and(one.pattern, condition);
    const inside = one.names.intersect(matching, this.#budget);
    if (inside.isEmpty) return [one];
    return [
      { names: inside, pattern: both, condition: both },
      { ...one, names: one.names.minus(matching, this.#budget) },
    ].filter(({ names }) => !names.isEmpty);
  }
}

const boundKeywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] as const;

/** The larger of two bounds, or with a negative sign the smaller. */
function further(one: JsonNumber | undefined, other: JsonNumber | undefined, sign: 1 | -1): JsonNumber | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return sign * compareNumbers(one, other) >= 0 ? one : other;
}

/** Names that match the same patterns. */
interface NameClass {
  readonly names: Language;
  /** The conditions of the matching patterns. */
  readonly pattern: Condition;
  /** The condition on a member that is not declared. */
  readonly condition: Condition;
}

const maxClasses = 64;
