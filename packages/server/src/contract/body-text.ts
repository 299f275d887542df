/**
 * The text of a body beside its value: a double cannot tell 2^63 from 2^63−1, nor `2.0` from `2`, so rules about how a
 * number is written need the text.
 */
export class BodyText {
  readonly text: string;
  readonly #sources = new Map<string, string | undefined>();

  constructor(text: string) {
    this.text = text;
  }

  /** How a primitive member of the root is written; of a repeated one the last counts, as in the value. */
  sourceOf(name: string): string | undefined {
    if (!this.#sources.has(name)) this.#sources.set(name, findSource(this.text, name));
    return this.#sources.get(name);
  }
}

function findSource(text: string, name: string): string | undefined {
  const sources = new Map<unknown, string>();
  // The reviver is much slower than plain parsing: only requests with such a member pay for it, once.
  const root: unknown = JSON.parse(
    text,
    function (this: unknown, key: string, value: unknown, context?: { source?: string }) {
      if (key === name && context?.source !== undefined) sources.set(this, context.source);
      return value;
    },
  );
  return sources.get(root);
}
