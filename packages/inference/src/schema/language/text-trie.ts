/**
 * A prefix tree of texts, each with what follows it. llama.cpp follows every text that is still possible separately; in
 * the tree, texts that begin alike are one. Adding a text makes a new tree, which shares all other branches with the old one.
 */
export interface TextTrie<End> {
  readonly next: ReadonlyMap<string, TextTrie<End>>;
  /** What may follow the text that ends here. */
  readonly ends: readonly End[];
}

export const emptyTrie: TextTrie<never> = { next: new Map(), ends: [] };

export function addText<End>(trie: TextTrie<End>, text: string, end: End): TextTrie<End> {
  return addCharacters(trie, Array.from(text), end);
}

function addCharacters<End>(trie: TextTrie<End>, characters: readonly string[], end: End): TextTrie<End> {
  const path: TextTrie<End>[] = [];
  let at: TextTrie<End> = trie;
  for (const character of characters) {
    path.push(at);
    at = at.next.get(character) ?? emptyTrie;
  }
  let added: TextTrie<End> = { next: at.next, ends: [...at.ends, end] };
  for (let index = path.length - 1; index >= 0; index--) {
    // Both lists have an entry for every character.
    const parent = path[index] as TextTrie<End>;
    added = { next: new Map([...parent.next, [characters[index] as string, added]]), ends: parent.ends };
  }
  return added;
}

/** A GBNF literal. JSON escapes control characters, so that the text contains none. */
export const quote = (text: string): string => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/**
 * The trie as a GBNF expression.
 * @param writeEnds what follows a text @param define makes a rule of an expression, once for each branching point
 */
export function writeTrie<End>(
  trie: TextTrie<End>,
  writeEnds: (ends: readonly End[]) => string,
  define: (trie: TextTrie<End>, write: () => string) => string,
): string {
  let text = "";
  let at = trie;
  while (at.next.size === 1 && at.ends.length === 0) {
    for (const [character, next] of at.next) {
      text += character;
      at = next;
    }
  }
  const literal = text === "" ? [] : [quote(text)];
  if (at.next.size === 0) return [...literal, writeEnds(at.ends)].filter((part) => part !== "").join(" ");
  const branching = at;
  const rule = define(branching, () =>
    [
      ...Array.from(branching.next, ([character, next]) =>
        writeTrie({ next: new Map([[character, next]]), ends: [] }, writeEnds, define),
      ),
      ...(branching.ends.length > 0 ? [writeEnds(branching.ends) || '""'] : []),
    ].join(" | "),
  );
  return [...literal, rule].join(" ");
}
