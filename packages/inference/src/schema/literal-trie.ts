/**
 * A prefix tree over the literals of which one is written. llama.cpp follows every literal that is still possible
 * separately. Without the tree, an enumeration of a thousand values would cost a thousand times as much as one value.
 */
export interface LiteralTrie {
  /** GBNF. */
  readonly grammar: string;
  /** The largest number of branches at one node. */
  readonly width: number;
}

interface Node {
  readonly next: Map<string, Node>;
  isEnd: boolean;
}

export function writeLiteralTrie(texts: readonly string[]): LiteralTrie {
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

function writeNode(root: Node): LiteralTrie {
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

/** A GBNF literal. It contains no control characters, because JSON escapes them. */
export const quote = (text: string): string => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
