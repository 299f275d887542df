/**
 * Texts of which one is written, as a tree over their common beginnings. llama.cpp follows every text that is still
 * possible on its own: without the tree an enumeration of a thousand values costs a thousand times one.
 */
export interface LiteralTree {
  /** GBNF. */
  readonly grammar: string;
  /** The most ways to go on at one place. */
  readonly width: number;
}

interface Node {
  readonly next: Map<string, Node>;
  isEnd: boolean;
}

export function writeLiteralTree(texts: readonly string[]): LiteralTree {
  const root: Node = { next: new Map(), isEnd: false };
  for (const text of texts) {
    let node = root;
    for (const character of text) {
      const next: Node = node.next.get(character) ?? { next: new Map(), isEnd: false };
      node.next.set(character, next);
      node = next;
    }
    node.isEnd = true;
  }
  return writeNode(root);
}

function writeNode(root: Node): LiteralTree {
  let node = root;
  let text = "";
  while (node.next.size === 1 && !node.isEnd) {
    for (const [character, next] of node.next) {
      text += character;
      node = next;
    }
  }
  const literal = text === "" ? [] : [quote(text)];
  if (node.next.size === 0) return { grammar: literal.join(""), width: 1 };
  const branches = Array.from(node.next, ([character, next]) => {
    const { grammar, width } = writeNode({ next: new Map([[character, next]]), isEnd: false });
    return { grammar, width };
  });
  const options = [...branches.map((branch) => branch.grammar), ...(node.isEnd ? ['""'] : [])];
  const width = Math.max(options.length, ...branches.map((branch) => branch.width));
  return { grammar: [...literal, `(${options.join(" | ")})`].join(" "), width };
}

/** A GBNF literal. Control characters cannot occur: JSON has escaped them. */
export const quote = (text: string): string => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
