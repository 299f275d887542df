import type { ComplexityBudget } from "../complexity-budget.ts";

/** The excluded texts as a prefix tree. */
interface Node {
  readonly next: Map<string, Node>;
  isEnd: boolean;
}

const newNode = (): Node => ({ next: new Map(), isEnd: false });

/**
 * Writes rules for every JSON string but some. A rule follows the excluded texts character by character; once the string
 * differs from all of them, it may go on in any way. Texts that end alike share the rules of their ends, those of different
 * objects too: without that, the names of an object would be most of its grammar.
 */
export class OtherNamesWriter {
  readonly #prefix: string;
  readonly #budget: ComplexityBudget;
  readonly #define: (name: string, body: string) => void;
  /** The rules by what they may go on with. */
  readonly #names = new Map<string, string>();

  /** @param prefix the prefix of the names of all rules @param define writes a rule */
  constructor(prefix: string, budget: ComplexityBudget, define: (name: string, body: string) => void) {
    this.#prefix = prefix;
    this.#budget = budget;
    this.#define = define;
  }

  /** The name of the rule for the strings, quotes included. @param excluded texts that JSON writes without escapes */
  write(excluded: Iterable<string>): string {
    const nodes = treeOf(excluded);
    this.#budget.spend(nodes.length);
    const rules = new Map<Node, string>();
    // A node stands after the one that leads to it.
    for (const node of nodes.toReversed()) rules.set(node, this.#ruleOf(node, rules));
    const start = rules.get(nodes[0] ?? newNode()) ?? "";
    return this.#shared(`start ${start}`, () => String.raw`"\"" ${start}`);
  }

  #ruleOf({ next, isEnd }: Node, rules: ReadonlyMap<Node, string>): string {
    const followed = Array.from(next, ([character, node]) => [escapeInClass(character), rules.get(node) ?? ""] as const);
    const key = followed.map(([character, rule]) => `${character} ${rule}`).join(" ");
    return this.#shared(`${isEnd ? "end" : "inside"} ${key}`, () =>
      [
        `[^${followed.map(([character]) => character).join("")}${String.raw`"\\\x00-\x1f]`} ${this.#rest()}`,
        this.#escape(),
        ...followed.map(([character, rule]) => `[${character}] ${rule}`),
        ...(isEnd ? [] : [String.raw`"\""`]),
      ].join(" | "),
    );
  }

  #rest(): string {
    return this.#shared("rest", () => String.raw`char* "\""`);
  }

  /** A character that JSON cannot write otherwise, and the rest. */
  #escape(): string {
    return this.#shared("escape", () => String.raw`"\\" (["\\bfnrt] | "u00" [01] hex) ${this.#rest()}`);
  }

  #shared(key: string, write: () => string): string {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const body = write();
    const name = `${this.#prefix}${this.#names.size}`;
    this.#names.set(key, name);
    this.#define(name, body);
    return name;
  }
}

/** All nodes of the tree, the root first. */
function treeOf(texts: Iterable<string>): Node[] {
  const root = newNode();
  const nodes = [root];
  for (const text of texts) {
    let node = root;
    for (const character of text) {
      let next = node.next.get(character);
      if (next === undefined) {
        next = newNode();
        node.next.set(character, next);
        nodes.push(next);
      }
      node = next;
    }
    node.isEnd = true;
  }
  return nodes;
}

/** A character as it stands in a class of GBNF. */
function escapeInClass(character: string): string {
  if (/^[A-Za-z0-9_]$/.test(character)) return character;
  const codePoint = character.codePointAt(0) ?? 0;
  const digits = codePoint.toString(16);
  return codePoint < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}
