import type { ComplexityBudget } from "../complexity-budget.ts";
import { alphabetOfCharacters, classOf } from "./alphabet.ts";
import { States, dead, explore } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";

interface Node {
  readonly id: number;
  readonly next: Map<number, Node>;
  isEnd: boolean;
}

/** The automaton of a finite set of texts, as a prefix tree. A text with half a surrogate pair is left out. */
export function literalAutomaton(texts: Iterable<string>, budget: ComplexityBudget): Dfa {
  const codePoints = Array.from(texts)
    .filter((text) => text.isWellFormed())
    .map((text) => Array.from(text, (character) => character.codePointAt(0) ?? 0));
  const alphabet = alphabetOfCharacters(codePoints.flat());
  let size = 0;
  const newNode = (): Node => ({ id: size++, next: new Map(), isEnd: false });
  const root = newNode();
  for (const text of codePoints) {
    let node = root;
    for (const codePoint of text) {
      budget.spend(1);
      const class_ = classOf(alphabet, codePoint);
      const next = node.next.get(class_) ?? newNode();
      node.next.set(class_, next);
      node = next;
    }
    node.isEnd = true;
  }
  const states = new States<Node>(budget);
  states.numberOf(root.id, root);
  const classes = Array.from({ length: alphabet.size }, (_, class_) => class_);
  const after = (next: Node | undefined): number => (next ? states.numberOf(next.id, next) : dead);
  return explore(
    alphabet,
    states,
    (node) => classes.map((class_) => after(node.next.get(class_))),
    (node) => node.isEnd,
  );
}
