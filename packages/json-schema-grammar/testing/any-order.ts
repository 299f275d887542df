import type { Node } from "jsonc-parser";
import { isDead, union } from "./grammar-walk.ts";
import type { GrammarWalk, Position } from "./grammar-walk.ts";

/**
 * Checks if the grammar accepts a JSON text with the members of each object in some order. Every order is tried, but an object
 * of more than 10 members counts as rejected, and so does a text after a million tried members.
 * @param source the text that the node was read from, which gives the exact spelling of numbers
 */
export function acceptsInSomeOrder(walk: GrammarWalk, node: Node, source: string): boolean {
  return new OrderSearch(walk, source).write(walk.start, node).isEnd;
}

const maxMembers = 10;
/** The maximum number of tried members. The number of orders is a product over all nested objects. */
const maxTried = 1_000_000;

const dead = union([]);

class OrderSearch {
  readonly #walk: GrammarWalk;
  readonly #source: string;
  #tried = 0;

  constructor(walk: GrammarWalk, source: string) {
    this.#walk = walk;
    this.#source = source;
  }

  write(from: Position, node: Node): Position {
    const walk = this.#walk;
    if (node.type === "object") return this.#writeObject(walk.follow(from, "{"), node.children ?? []);
    if (node.type === "array") {
      let position = walk.follow(from, "[");
      for (const [index, item] of (node.children ?? []).entries())
        position = this.write(walk.follow(position, index === 0 ? "" : ","), item);
      return walk.follow(position, "]");
    }
    const isNumber = node.type === "number";
    return walk.follow(
      from,
      isNumber ? this.#source.slice(node.offset, node.offset + node.length) : JSON.stringify(node.value),
    );
  }

  /** Positions reached with the same set of members are merged, because the rest does not depend on their order. */
  #writeObject(start: Position, members: readonly Node[]): Position {
    if (members.length > maxMembers) return dead;
    let reached = new Map([[0, start]]);
    for (let written = 0; written < members.length; written += 1) {
      const further = new Map<number, Position[]>();
      for (const [set, position] of reached) {
        for (const [index, member] of members.entries()) {
          if ((set & (1 << index)) !== 0) continue;
          const after = this.#writeMember(position, member, written === 0);
          if (!isDead(after)) further.set(set | (1 << index), [...(further.get(set | (1 << index)) ?? []), after]);
        }
      }
      reached = new Map(Array.from(further, ([set, positions]) => [set, union(positions)]));
    }
    return this.#walk.follow(reached.get((1 << members.length) - 1) ?? dead, "}");
  }

  #writeMember(from: Position, { children: [name, value] = [] }: Node, isFirst: boolean): Position {
    this.#tried += 1;
    if (!name || !value || this.#tried > maxTried) return dead;
    const atValue = this.#walk.follow(from, `${isFirst ? "" : ","}${JSON.stringify(name.value)}:`);
    return isDead(atValue) ? dead : this.write(atValue, value);
  }
}
