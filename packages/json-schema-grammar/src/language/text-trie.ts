/**
 * A prefix tree of texts, each with its continuations. llama.cpp follows each possible text separately; in the tree, texts
 * with the same beginning are one. Adding a text makes a new tree, which shares all other branches with the old one.
 */
export interface TextTrie<End> {
  /** The branches. Each begins with a different character. It is a list, because copying a map takes much longer. */
  readonly next: readonly Branch<End>[];
  /** The possible continuations of the text that ends here. */
  readonly ends: readonly End[];
}

/** A run of characters without a branch, and the trie that follows it. */
interface Branch<End> {
  readonly text: string;
  /** The text as a GBNF literal. Many tries share a branch. */
  readonly literal: string;
  readonly rest: TextTrie<End>;
}

export const emptyTrie: TextTrie<never> = { next: [], ends: [] };

export function addText<End>(trie: TextTrie<End>, text: string, end: End): TextTrie<End> {
  if (text === "") return { next: trie.next, ends: [...trie.ends, end] };
  const first = text.codePointAt(0);
  const at = trie.next.findIndex((branch) => branch.text.codePointAt(0) === first);
  const branch = trie.next[at];
  if (!branch) return { next: [...trie.next, branchOf(text, { next: [], ends: [end] })], ends: trie.ends };
  const next = trie.next.slice();
  next[at] = extend(branch, text, end);
  return { next, ends: trie.ends };
}

const branchOf = <End>(text: string, rest: TextTrie<End>): Branch<End> => ({ text, literal: quote(text), rest });

/** @param text begins with the same character as the branch */
function extend<End>(branch: Branch<End>, text: string, end: End): Branch<End> {
  const { text: known, rest } = branch;
  const length = commonLength(known, text);
  if (length === known.length) return { ...branch, rest: addText(rest, text.slice(length), end) };
  const shared = { next: [branchOf(known.slice(length), rest)], ends: [] };
  return branchOf(text.slice(0, length), addText(shared, text.slice(length), end));
}

/** Returns the length of the longest common prefix. It ends between two characters. */
export function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length++;
  const last = one.charCodeAt(length - 1);
  const isHalf = last >= 0xd800 && last < 0xdc00;
  return isHalf ? length - 1 : length;
}

/** Returns a GBNF literal. The text is JSON, so its control characters are already escaped. */
export const quote = (text: string): string =>
  /["\\]/.test(text) ? `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"` : `"${text}"`;

/**
 * Writes the trie as a GBNF expression. @param writeEnds writes the continuation of a text @param define makes a rule of an expression, once for each branching point
 */
export function writeTrie<End>(
  trie: TextTrie<End>,
  writeEnds: (ends: readonly End[]) => string,
  define: (trie: TextTrie<End>, write: () => string) => string,
): string {
  const writeBranch = ({ literal, rest }: Branch<End>): string => {
    const after = writeTrie(rest, writeEnds, define);
    return after === "" ? literal : `${literal} ${after}`;
  };
  const [only] = trie.next;
  if (only === undefined) return writeEnds(trie.ends);
  if (trie.next.length === 1 && trie.ends.length === 0) return writeBranch(only);
  return define(trie, () =>
    [...trie.next.map(writeBranch), ...(trie.ends.length > 0 ? [writeEnds(trie.ends) || '""'] : [])].join(" | "),
  );
}
