import { TokenText } from "./token-text.ts";

/** The part of a tool call that one token adds. */
export interface ToolCallDelta {
  /** Set once, when the name is complete. */
  readonly name?: string;
  /** The next part of the arguments' JSON text, possibly empty. */
  readonly arguments: string;
  readonly isComplete: boolean;
}

const opening = /^\{"name": "([^"]+)", "arguments": /;

/** Parses the body of one tool call, `{"name": "…", "arguments": {…}}`. The grammar guarantees this format. */
export class ToolCallText {
  readonly #bytes = new TokenText();
  #head: string | undefined = "";
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isComplete = false;

  push(bytes: readonly number[]): ToolCallDelta {
    const text = this.#bytes.push(bytes);
    if (this.#head === undefined) return this.#takeArguments(text);
    this.#head += text;
    const match = opening.exec(this.#head);
    if (!match) return { arguments: "", isComplete: false };
    const rest = this.#head.slice(match[0].length);
    this.#head = undefined;
    // The expression has exactly one group, and it is not optional.
    return { name: match[1] as string, ...this.#takeArguments(rest) };
  }

  /** The text up to the brace that closes the arguments. The brace that closes the call is not part of them. */
  #takeArguments(text: string): ToolCallDelta {
    if (this.#depth === 0 && this.#isComplete) return { arguments: "", isComplete: text.includes("}") };
    for (let index = 0; index < text.length; index += 1) {
      this.#step(text.charAt(index));
      if (this.#isComplete) {
        return { arguments: text.slice(0, index + 1), isComplete: text.slice(index + 1).includes("}") };
      }
    }
    return { arguments: text, isComplete: false };
  }

  #step(character: string): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === "\\") this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
      return;
    }
    if (character === '"') this.#isInString = true;
    else if (character === "{" || character === "[") this.#depth += 1;
    else if (character === "}" || character === "]") {
      this.#depth -= 1;
      this.#isComplete = this.#depth === 0;
    }
  }
}
