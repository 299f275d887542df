import { isDeepStrictEqual } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Case } from "./read-requests.ts";

/** The first choice of an answer. */
export interface Answer {
  readonly content: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly finish: string;
  readonly tokens: number;
}

/** Recognises the sentences with which the demonstration models decline. They are wrong for messages that want an answer. */
const declines = /only taught|cannot help|cannot see live|no investment advice|was not taught/i;

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

/** Checks that the answer is what the case expects. An answer that ran to the token cap is wrong. */
export function isRight({ expects }: Case, answer: Answer): boolean {
  if (answer.finish === "length") return false;
  const { content, calls } = answer;
  switch (expects.kind) {
    case "ends":
      return true;
    case "answered":
      return content !== "" && !declines.test(content);
    case "system": {
      const finds = (pattern: string): boolean => new RegExp(pattern, expects.isCased ? "u" : "iu").test(content);
      return finds(expects.matches ?? "") && !(expects.lacks !== undefined && finds(expects.lacks));
    }
    case "valid": {
      const value = parseOr(content, undefined);
      return value !== undefined && ajv.validate(expects.schema, value);
    }
    case "call":
      return calls.length === 1 && calls.every((call) => isCall(call, expects));
    case "no call":
      return calls.length === 0;
    case "retold":
      return calls.length === 0 && expects.patterns.every((pattern) => new RegExp(whole(pattern), "i").test(content));
  }
}

function isCall(call: Answer["calls"][number], wanted: Extract<Case["expects"], { kind: "call" }>): boolean {
  const given = parseOr(call.arguments, {});
  const allowed = [{}, ...wanted.also].map((other) => ({ ...wanted.arguments, ...other }));
  return call.name === wanted.name && allowed.some((one) => isDeepStrictEqual(given, one));
}

/** Makes a number match only as a whole: 77 does not contain the number 7. */
const whole = (pattern: string): string => `(?<![\\d.])(?:${pattern})(?![\\d]|\\.\\d)`;

function parseOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}
