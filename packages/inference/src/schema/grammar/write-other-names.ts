import { addText, emptyTrie } from "../language/text-trie.ts";
import type { TextTrie } from "../language/text-trie.ts";

/** The escapes of characters that JSON cannot write otherwise. */
const escapes = String.raw`"\\" (["\\bfnrt] | "u00" [01] hex)`;

/**
 * Rules for every JSON string but some. The rule called `name` follows the excluded texts character by character; once the
 * string differs from all of them, it may go on in any way.
 * @param excluded texts that JSON writes without escapes
 */
export function writeOtherNames(
  excluded: Iterable<string>,
  name: string,
  define: (name: string, body: string) => void,
): void {
  let trie: TextTrie<true> = emptyTrie;
  for (const text of excluded) trie = addText(trie, text, true);
  const rest = `${name}-rest`;
  define(rest, String.raw`char* "\""`);
  let count = 0;
  const open: { readonly rule: string; readonly node: TextTrie<true> }[] = [{ rule: `${name}-0`, node: trie }];
  define(name, String.raw`"\"" ${name}-0`);
  // The list grows during the loop.
  for (const { rule, node } of open) {
    const followed = Array.from(node.next, ([character, next]) => {
      if (next.next.size === 0)
        return `${quoteCharacter(character)} ([^"\\\\\\u0000-\\u001f] ${rest} | ${escapes} ${rest})`;
      count += 1;
      open.push({ rule: `${name}-${count}`, node: next });
      return `${quoteCharacter(character)} ${name}-${count}`;
    });
    const others = `[^"\\\\\\u0000-\\u001f${Array.from(node.next.keys(), escapeInClass).join("")}] ${rest}`;
    const end = node.ends.length > 0 ? [] : [String.raw`"\""`];
    define(rule, [others, `${escapes} ${rest}`, ...followed, ...end].join(" | "));
  }
}

const quoteCharacter = (character: string): string => `[${escapeInClass(character)}]`;

/** A character as it stands in a class of GBNF. */
function escapeInClass(character: string): string {
  if (/^[A-Za-z0-9_]$/.test(character)) return character;
  const codePoint = character.codePointAt(0) ?? 0;
  const digits = codePoint.toString(16);
  return codePoint < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}
