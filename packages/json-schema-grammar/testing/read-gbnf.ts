/** The right-hand side of a grammar rule. Literals are sequences of characters. */
export type Expression = Characters | Sequence | Choice | Repeat | RuleName;

/** One code point in one of the ranges, or, if negated, outside of all of them. */
export interface Characters {
  readonly kind: "characters";
  readonly ranges: readonly (readonly [first: number, last: number])[];
  readonly isNegated: boolean;
}
interface Sequence {
  readonly kind: "sequence";
  readonly items: readonly Expression[];
}
interface Choice {
  readonly kind: "choice";
  readonly options: readonly Expression[];
}
export interface Repeat {
  readonly kind: "repeat";
  readonly item: Expression;
  readonly min: number;
  /** May be infinite. */
  readonly max: number;
}
interface RuleName {
  readonly kind: "rule";
  readonly name: string;
}

export type Grammar = ReadonlyMap<string, Expression>;

/** Parses the part of GBNF that our grammars use, with one rule per line. @throws for any other text */
export function readGbnf(text: string): Grammar {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return new Map(
    lines.map((line) => {
      const [, name, body] = /^([\w-]+) ::= (.*)$/.exec(line) ?? [];
      if (name === undefined || body === undefined) throw new SyntaxError(`no rule of GBNF: ${line}`);
      return [name, new RuleReader(body).read()] as const;
    }),
  );
}

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
const hexDigits: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

class RuleReader {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(body: string) {
    this.#characters = Array.from(body);
  }

  read(): Expression {
    const choice = this.#choice();
    if (this.#at < this.#characters.length) throw this.#unexpected();
    return choice;
  }

  #choice(): Expression {
    const options = [this.#sequence()];
    while (this.#takes("|")) options.push(this.#sequence());
    return options.length === 1 && options[0] ? options[0] : { kind: "choice", options };
  }

  #sequence(): Expression {
    const items: Expression[] = [];
    for (this.#skipBlanks(); this.#at < this.#characters.length && !/[|)]/.test(this.#peek()); this.#skipBlanks())
      items.push(this.#repeated(this.#single()));
    return items.length === 1 && items[0] ? items[0] : { kind: "sequence", items };
  }

  #single(): Expression {
    if (this.#takes("(")) {
      const inner = this.#choice();
      if (!this.#takes(")")) throw this.#unexpected();
      return inner;
    }
    if (this.#takes('"')) return this.#literal();
    if (this.#takes("[")) return this.#class();
    if (this.#takes(".")) return { kind: "characters", ranges: [], isNegated: true };
    let name = "";
    while (/[\w-]/.test(this.#peek())) name += this.#next();
    if (name === "") throw this.#unexpected();
    return { kind: "rule", name };
  }

  #literal(): Expression {
    const items: Expression[] = [];
    while (this.#peek() !== '"') {
      const point = this.#codePoint();
      items.push({ kind: "characters", ranges: [[point, point]], isNegated: false });
    }
    this.#next();
    return { kind: "sequence", items };
  }

  #class(): Expression {
    const isNegated = this.#peek() === "^";
    if (isNegated) this.#next();
    const ranges: [number, number][] = [];
    while (this.#peek() !== "]") {
      const first = this.#codePoint();
      const isRange = this.#peek() === "-" && this.#characters[this.#at + 1] !== "]";
      if (isRange) this.#next();
      ranges.push([first, isRange ? this.#codePoint() : first]);
    }
    this.#next();
    return { kind: "characters", ranges, isNegated };
  }

  #codePoint(): number {
    const character = this.#next();
    if (character !== "\\") return character.codePointAt(0) ?? 0;
    const escaped = this.#next();
    const digits = hexDigits[escaped];
    if (digits === undefined) return (escapes[escaped] ?? escaped).codePointAt(0) ?? 0;
    return Number.parseInt(Array.from({ length: digits }, () => this.#next()).join(""), 16);
  }

  #repeated(item: Expression): Expression {
    const repeat = (min: number, max: number): Expression => this.#repeated({ kind: "repeat", item, min, max });
    if (this.#takes("*")) return repeat(0, Number.POSITIVE_INFINITY);
    if (this.#takes("+")) return repeat(1, Number.POSITIVE_INFINITY);
    if (this.#takes("?")) return repeat(0, 1);
    if (!this.#takes("{")) return item;
    let bounds = "";
    while (this.#peek() !== "}") bounds += this.#next();
    this.#next();
    const [min = "0", max = min] = bounds.split(",");
    return repeat(Number(min), max === "" ? Number.POSITIVE_INFINITY : Number(max));
  }

  #peek(): string {
    return this.#characters[this.#at] ?? "";
  }

  #next(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) throw this.#unexpected();
    this.#at += 1;
    return character;
  }

  #takes(character: string): boolean {
    this.#skipBlanks();
    const isThere = this.#peek() === character;
    if (isThere) this.#at += 1;
    return isThere;
  }

  #skipBlanks(): void {
    while (this.#peek() === " ") this.#at += 1;
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`GBNF cannot be read after ${this.#characters.slice(0, this.#at).join("")}`);
  }
}
