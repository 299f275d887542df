import type { Node } from "jsonc-parser";
import { isDead, union } from "./grammar-walk.ts";
import type { GrammarWalk, Position } from "./grammar-walk.ts";

/**
 * Whether the grammar accepts a JSON text with the members of each object in some order. Every order is tried, but an
 * object of more than 10 members counts as rejected.
 * @param source the text that the node was read from: numbers stay as they are written there
 */
export function acceptsInSomeOrder(walk: GrammarWalk, node: Node, source: string): boolean {
  return write(walk, walk.start, node, source).isEnd;
}

function write(walk: GrammarWalk, from: Position, node: Node, source: string): Position {
  if (node.type === "object") return writeObject(walk, from, node.children ?? [], source);
  if (node.type === "array") {
    let position = walk.follow(from, "[");
    for (const [index, item] of (node.children ?? []).entries())
      position = write(walk, walk.follow(position, index === 0 ? "" : ","), item, source);
    return walk.follow(position, "]");
  }
  const isNumber = node.type === "number";
  return walk.follow(
    from,
    isNumber ? source.slice(node.offset, node.offset + node.length) : JSON.stringify(node.value),
  );
}

const mostMembers = 10;

const dead = union([]);

/** Positions that are reached with the same members written are one position: the rest does not depend on their order. */
function writeObject(walk: GrammarWalk, from: Position, members: readonly Node[], source: string): Position {
  if (members.length > mostMembers) return dead;
  let reached = new Map([[0, walk.follow(from, "{")]]);
  for (let written = 0; written < members.length; written += 1) {
    const further = new Map<number, Position[]>();
    for (const [set, position] of reached) {
      for (const [index, { children: [name, value] = [] }] of members.entries()) {
        if ((set & (1 << index)) !== 0 || !name || !value) continue;
        const atValue = walk.follow(position, `${written === 0 ? "" : ","}${JSON.stringify(name.value)}:`);
        const after = write(walk, atValue, value, source);
        if (!isDead(after)) further.set(set | (1 << index), [...(further.get(set | (1 << index)) ?? []), after]);
      }
    }
    reached = new Map(Array.from(further, ([set, positions]) => [set, union(positions)]));
  }
  return walk.follow(reached.get((1 << members.length) - 1) ?? dead, "}");
}
