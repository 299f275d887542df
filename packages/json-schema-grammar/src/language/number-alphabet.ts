import { alphabetOfCharacters, classOf } from "./alphabet.ts";

const characters = Array.from("-+.0123456789eE");

/** The characters of numbers, and a class of all others. */
export const numberAlphabet = alphabetOfCharacters(characters.map((character) => character.charCodeAt(0)));

/** For each class of code points, its character. Undefined for the class that numbers do not have. */
export const numberCharacters: readonly (string | undefined)[] = Array.from(
  { length: numberAlphabet.size },
  (_, class_) => characters.find((character) => classOf(numberAlphabet, character.charCodeAt(0)) === class_),
);
