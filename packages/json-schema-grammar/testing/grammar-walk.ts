import type { Characters, Expression, Grammar, Repeat } from "./read-gbnf.ts";

/** The rest that must still be matched: the top of a stack of expressions. Equal stacks are one object. */
interface Stack {
  readonly top: Expression;
  readonly below: Stack | undefined;
  /** Computed when first asked for. */
  next?: Position;
}

/** All parses of the text so far. Without stacks and not at the end, the grammar does not allow the text. */
export interface Position {
  /** Stacks with a terminal on top. */
  readonly open: readonly Stack[];
  /** True if the text so far is complete. */
  readonly isEnd: boolean;
}

export const isDead = ({ open, isEnd }: Position): boolean => open.length === 0 && !isEnd;

/** Matches a text against a grammar as llama.cpp does, character by character. It can continue from any earlier position. */
export class GrammarWalk {
  readonly #grammar: Grammar;
  readonly #stacks = new Map<Stack | undefined, Map<Expression, Stack>>();
  /** The rest of a repetition after some rounds. Equal counts share one object. */
  readonly #remainders = new Map<Expression, Map<string, Repeat>>();
  readonly start: Position;

  constructor(grammar: Grammar) {
    this.#grammar = grammar;
    this.start = this.#expand(this.#push({ kind: "rule", name: "root" }, undefined));
  }

  accepts(text: string): boolean {
    return this.follow(this.start, text).isEnd;
  }

  follow(from: Position, text: string): Position {
    let position = from;
    for (const character of text) {
      const point = character.codePointAt(0) ?? 0;
      position = union(
        position.open.flatMap(({ top, below }) =>
          top.kind === "characters" && isIn(top, point) ? [this.#expand(below)] : [],
        ),
      );
    }
    return position;
  }

  #push(top: Expression, below: Stack | undefined): Stack {
    const onto = this.#stacks.get(below) ?? new Map<Expression, Stack>();
    this.#stacks.set(below, onto);
    const stack = onto.get(top) ?? { top, below };
    onto.set(top, stack);
    return stack;
  }

  #expand(stack: Stack | undefined): Position {
    if (!stack) return { open: [], isEnd: true };
    if (stack.next) return stack.next;
    const open = new Set<Stack>();
    const seen = new Set<Stack>();
    const todo: (Stack | undefined)[] = [stack];
    let isEnd = false;
    while (todo.length > 0) {
      const one = todo.pop();
      if (!one) isEnd = true;
      else if (one.top.kind === "characters") open.add(one);
      else if (!seen.has(one)) todo.push(...this.#step(one));
      if (one) seen.add(one);
    }
    return (stack.next = { open: [...open], isEnd });
  }

  /** Returns the stacks that a stack can become without matching a character. */
  #step({ top, below }: Stack): (Stack | undefined)[] {
    switch (top.kind) {
      case "rule": {
        const body = this.#grammar.get(top.name);
        if (!body) throw new SyntaxError(`the grammar has no rule ${top.name}`);
        return [this.#push(body, below)];
      }
      case "choice":
        return top.options.map((option) => this.#push(option, below));
      case "sequence":
        return [top.items.reduceRight<Stack | undefined>((rest, item) => this.#push(item, rest), below)];
      case "repeat": {
        const again = top.max > 0 ? [this.#push(top.item, this.#push(this.#remainder(top), below))] : [];
        return top.min === 0 ? [below, ...again] : again;
      }
      case "characters":
        return [];
    }
  }

  #remainder({ item, min, max }: Repeat): Repeat {
    const counts = [Math.max(0, min - 1), max - 1] as const;
    const known = this.#remainders.get(item) ?? new Map<string, Repeat>();
    this.#remainders.set(item, known);
    const repeat = known.get(counts.join()) ?? { kind: "repeat", item, min: counts[0], max: counts[1] };
    known.set(counts.join(), repeat);
    return repeat;
  }
}

const isIn = ({ ranges, isNegated }: Characters, point: number): boolean =>
  ranges.some(([first, last]) => first <= point && point <= last) !== isNegated;

export function union(positions: readonly Position[]): Position {
  const [only] = positions;
  if (positions.length === 1 && only) return only;
  return {
    open: [...new Set(positions.flatMap(({ open }) => open))],
    isEnd: positions.some(({ isEnd }) => isEnd),
  };
}
