/**
 * A prefix tree of texts, each with what follows it. llama.cpp follows every text that is still possible separately; in
 * the tree, texts that begin alike are one. Adding a text makes a new tree, which shares all other branches with the old one.
 */
export interface TextTrie<End> {
  /** The branches by their first character. */
  readonly next: ReadonlyMap<string, Branch<End>>;
  /** What may follow the text that ends here. */
  readonly ends: readonly End[];
}

/** A run of characters without a branch, and the trie that follows it. */
interface Branch<End> {
  readonly text: string;
  readonly rest: TextTrie<End>;
}

export const emptyTrie: TextTrie<never> = { next: new Map(), ends: [] };

export function addText<End>(trie: TextTrie<End>, text: string, end: End): TextTrie<End> {
  if (text === "") return { next: trie.next, ends: [...trie.ends, end] };
  const first = firstOf(text);
  const branch = trie.next.get(first);
  const added = branch ? extend(branch, text, end) : { text, rest: { next: emptyTrie.next, ends: [end] } };
  return { next: new Map(trie.next).set(first, added), ends: trie.ends };
}

/** @param text begins with the same character as the branch */
function extend<End>({ text: known, rest }: Branch<End>, text: string, end: End): Branch<End> {
  const length = commonLength(known, text);
  const left = known.slice(length);
  const shared = left === "" ? rest : { next: new Map([[firstOf(left), { text: left, rest }]]), ends: [] };
  return { text: text.slice(0, length), rest: addText(shared, text.slice(length), end) };
}

const firstOf = (text: string): string => String.fromCodePoint(text.codePointAt(0) ?? 0);

/** The length of the longest text with which both begin. It ends between two characters. */
export function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length++;
  const last = one.charCodeAt(length - 1);
  const isHalf = last >= 0xd800 && last < 0xdc00;
  return isHalf ? length - 1 : length;
}

/** A GBNF literal. The text is JSON, where control characters are already escaped. */
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
  const branches = [...trie.next.values()];
  const writeBranch = ({ text, rest }: Branch<End>): string => {
    const after = writeTrie(rest, writeEnds, define);
    return after === "" ? quote(text) : `${quote(text)} ${after}`;
  };
  const [only] = branches;
  if (only === undefined) return writeEnds(trie.ends);
  if (branches.length === 1 && trie.ends.length === 0) return writeBranch(only);
  return define(trie, () =>
    [...branches.map(writeBranch), ...(trie.ends.length > 0 ? [writeEnds(trie.ends) || '""'] : [])].join(" | "),
  );
}
