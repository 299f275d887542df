import type { Characters, Expression, Grammar } from "./read-gbnf.ts";

/** 0 to 1, exclusive. */
export type Random = () => number;

/** Returns a generator of pseudo-random numbers: the same ones for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws random texts that a grammar allows. At a certain depth it takes the shortest way to the end. */
export class GrammarSampler {
  readonly #grammar: Grammar;
  /** The minimum number of rule levels of a derivation; infinite if there is no derivation. */
  readonly #levels = new Map<string, number>();

  constructor(grammar: Grammar) {
    this.#grammar = grammar;
    for (let isDone = false; !isDone;) {
      isDone = true;
      for (const [name, body] of grammar) {
        const levels = 1 + this.#levelsOf(body);
        if (levels < (this.#levels.get(name) ?? Number.POSITIVE_INFINITY)) isDone = !this.#levels.set(name, levels);
      }
    }
  }

  #levelsOf(expression: Expression): number {
    switch (expression.kind) {
      case "characters":
        return 0;
      case "rule":
        return this.#levels.get(expression.name) ?? Number.POSITIVE_INFINITY;
      case "sequence":
        return Math.max(0, ...expression.items.map((item) => this.#levelsOf(item)));
      case "choice":
        return Math.min(...expression.options.map((option) => this.#levelsOf(option)));
      case "repeat":
        return expression.min === 0 ? 0 : this.#levelsOf(expression.item);
    }
  }

  /** @param patience the number of free choices before the text takes the shortest way to its end */
  sample(random: Random, patience = 200): string {
    let left = patience;
    const draw = (expression: Expression): string => {
      switch (expression.kind) {
        case "characters":
          return String.fromCodePoint(drawCharacter(expression, random));
        case "rule":
          // Every rule that an expression names exists, because the constructor has read them all.
          return draw(this.#grammar.get(expression.name) ?? { kind: "choice", options: [] });
        case "sequence":
          return expression.items.map(draw).join("");
        case "choice":
          return draw(this.#choose(expression.options, (left -= 1) > 0, random));
        case "repeat": {
          const extra = (left -= 1) > 0 ? Math.floor(-Math.log(1 - random()) * 2) : 0;
          const turns = Math.min(expression.max, expression.min + extra);
          return Array.from({ length: turns }, () => draw(expression.item)).join("");
        }
      }
    };
    return draw({ kind: "rule", name: "root" });
  }

  #choose(options: readonly Expression[], isFree: boolean, random: Random): Expression {
    const measured = options.map((option) => [option, this.#levelsOf(option)] as const);
    const min = Math.min(...measured.map(([, levels]) => levels));
    const possible = measured.filter(([, levels]) => (isFree ? levels < Number.POSITIVE_INFINITY : levels === min));
    const [chosen] = possible[Math.floor(random() * possible.length)] ?? [];
    if (!chosen) throw new RangeError("the grammar has a choice that cannot be completed");
    return chosen;
  }
}

const lastCodePoint = 0x10ffff;

function drawCharacter({ ranges, isNegated }: Characters, random: Random): number {
  if (!isNegated) return drawFrom(ranges, random);
  const outside = complementOf(ranges);
  const ascii = outside.flatMap(([first, last]) => (first < 0x7f ? [[first, Math.min(last, 0x7e)] as const] : []));
  return drawFrom(ascii.length > 0 && random() < 0.9 ? ascii : outside, random);
}

function drawFrom(ranges: Characters["ranges"], random: Random): number {
  const [first, last] = ranges[Math.floor(random() * ranges.length)] ?? [0, 0];
  const point = first + Math.floor(random() * (last - first + 1));
  return point >= 0xd800 && point <= 0xdfff ? drawFrom(ranges, random) : point; // half a character
}

function complementOf(ranges: Characters["ranges"]): (readonly [number, number])[] {
  const gaps: (readonly [number, number])[] = [];
  let next = 0;
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (next < first) gaps.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  if (next <= lastCodePoint) gaps.push([next, lastCodePoint]);
  return gaps;
}
