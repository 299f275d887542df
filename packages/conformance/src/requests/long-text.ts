/** A text that takes more tokens, in any vocabulary, than the suite ever allows. */
export const longText = "one two three four five six seven eight nine ten ".repeat(12).trim();
