import { Ajv2020 } from "ajv/dist/2020.js";
import type { Answer } from "../wire/answer.ts";
import { must, show } from "./finding.ts";
import { finishOf, parse } from "./read.ts";

const ajv = new Ajv2020({ strict: false, logger: false });

/**
 * Judges an answer to a schema that most servers refuse, because few can enforce it. A text that breaks the schema shows that
 * the schema was ignored. A valid or an incomplete text shows nothing, because the model may have kept the schema by chance.
 */
export function mustBeHeld(answer: Answer, text: string, schema: object): void {
  if (finishOf(answer) === "length") return;
  must(
    ajv.validate(schema, parse(text)),
    answer,
    "a refusal, or a text that is valid against the schema",
    `the text ${show(text)}`,
  );
}
