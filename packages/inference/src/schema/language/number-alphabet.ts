import { alphabetOf, classOf } from "./alphabet.ts";
import { charSet } from "./char-set.ts";

const characters = Array.from("-+.0123456789eE");

/** The characters of numbers, and a class of all others. */
export const numberAlphabet = alphabetOf(
  characters.map((character) => charSet([[character.charCodeAt(0), character.charCodeAt(0)]])),
);

/** For each class of code points, the character that it stands for; undefined for those that no number has. */
export const numberCharacters: readonly (string | undefined)[] = Array.from(
  { length: numberAlphabet.size },
  (_, class_) => characters.find((character) => classOf(numberAlphabet, character.charCodeAt(0)) === class_),
);
