import { Ajv2020 } from "ajv/dist/2020.js";
import { checkOf } from "../../judge/check.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import { mustNameIgnored } from "../../judge/ignored-params.ts";
import {
  valueAt,
  completionOf,
  contentOf,
  finishOf,
  givenCompletion,
  isRecord,
  listAt,
  mustRefuse,
  parse,
  textAt,
  tokensOf,
} from "../../judge/read.ts";
import { hasFeature } from "../../requests/listed-model.ts";
import type { Answer } from "../../wire/answer.ts";
import { exactNumbers, foreignWords, formats, keywords, listed, plans, schemaPath, steps } from "./requests.ts";

const ajv = new Ajv2020({ strict: false, logger: false });
const isListed = ajv.compile(listed);

function mustBeListed(answer: Answer): string {
  completionOf(answer);
  if (finishOf(answer) !== "stop") cannot(`"${answer.name}" finished with ${show(finishOf(answer))}`);
  must(
    isListed(parse(contentOf(answer))),
    answer,
    "content that is valid against the schema",
    `the content ${show(contentOf(answer))}`,
  );
  return show(contentOf(answer));
}

const checks: readonly Check[] = [
  checkOf("FMT-01", "Compares the plain answer with one in the format text.", ["plain", "text format"], (context) => {
    const [plain, text] = [context.answer("plain"), context.answer("text format")];
    givenCompletion(plain);
    completionOf(text);
    must(
      contentOf(text) === contentOf(plain),
      text,
      `the text ${show(contentOf(plain))}`,
      `the text ${show(contentOf(text))}`,
    );
    return show(contentOf(text));
  }),
  checkOf("FMT-02", "Asks for several JSON objects, and reads those that were not cut.", ["JSON object"], (context) => {
    const answer = context.answer("JSON object");
    completionOf(answer);
    const whole = [...listAt(answer.json, "/choices").keys()].filter((index) => finishOf(answer, index) === "stop");
    const texts = whole.map((index) => contentOf(answer, index));
    for (const text of texts)
      must(isRecord(parse(text)), answer, "content that is one JSON object", `the content ${show(text)}`);
    return texts.length > 0 ? texts.join(" ") : cannot("every choice was cut");
  }),
  checkOf("FMT-03", "Asks for JSON by a schema and validates it.", ["JSON by schema"], (context) =>
    mustBeListed(context.answer("JSON by schema")),
  ),
  checkOf("FMT-04", "The same with strict false.", ["JSON by a loose schema"], (context) =>
    mustBeListed(context.answer("JSON by a loose schema")),
  ),
  checkOf(
    "FMT-07",
    "Asks for JSON by schemas of every keyword that is enforced.",
    ["JSON by schema", "keywords, one by one"],
    (context) => {
      mustBeListed(context.answer("JSON by schema"));
      for (const [index, answer] of context.answers("keywords, one by one").entries()) {
        const [name, schema] = keywords[index] ?? cannot("an answer too many");
        completionOf(answer);
        if (finishOf(answer) !== "stop") cannot(`"${name}" finished with ${show(finishOf(answer))}`);
        must(
          ajv.validate(schema, parse(contentOf(answer))),
          answer,
          `content that keeps ${name}`,
          `the content ${show(contentOf(answer))}`,
        );
      }
      return "every answer was valid";
    },
  ),
  checkOf(
    "FMT-18",
    "Asks for JSON by a schema with numbers of 16 and 19 digits.",
    ["numbers that a double would change"],
    (context) => {
      const answer = context.answer("numbers that a double would change");
      if (valueAt(answer.json, "/error/code") === "invalid_schema") return "refused with invalid_schema";
      completionOf(answer);
      if (finishOf(answer) !== "stop") cannot(`the answer finished with ${show(finishOf(answer))}`);
      const content = contentOf(answer).replaceAll(/\s/g, "");
      for (const [name, digits] of Object.entries(exactNumbers))
        must(
          content.includes(`"${name}":${digits}`),
          answer,
          `content with ${name}: ${digits}`,
          `the content ${show(content)}`,
        );
      return show(content);
    },
  ),
  checkOf(
    "FMT-19",
    "Asks for one of two values, of which the format allows one.",
    ["formats of the OpenAPI registry"],
    (context) => {
      for (const [index, answer] of context.answers("formats of the OpenAPI registry").entries()) {
        const [name, , allowed] = formats[index] ?? cannot("an answer too many");
        completionOf(answer);
        if (finishOf(answer) !== "stop") cannot(`"${name}" finished with ${show(finishOf(answer))}`);
        must(
          parse(contentOf(answer)) === allowed,
          answer,
          `the content ${show(allowed)} for ${name}`,
          `the content ${show(contentOf(answer))}`,
        );
      }
      return "every answer kept the format";
    },
  ),
  checkOf("FMT-16", "Sends a schema with words that are not keywords.", ["words that are not keywords"], (context) => {
    const answer = context.answer("words that are not keywords");
    completionOf(answer);
    return mustNameIgnored(answer, ...foreignWords.map((word) => `${schemaPath}.${word}`));
  }),
  checkOf(
    "FMT-17",
    "Compares the prompt of a schema with that of the same schema with annotations.",
    ["models", "JSON by schema", "annotations"],
    (context) => {
      const [bare, annotated] = [context.answer("JSON by schema"), context.answer("annotations")];
      completionOf(bare);
      completionOf(annotated);
      const [fewer, more] = [tokensOf(bare, "prompt_tokens"), tokensOf(annotated, "prompt_tokens")];
      const isShown = hasFeature(context, "schema_in_prompt");
      must(
        isShown ? more > fewer : more === fewer,
        annotated,
        `${isShown ? "more than " : ""}${fewer} prompt_tokens`,
        `${show(more)} prompt_tokens`,
      );
      return `${fewer} and ${more} prompt_tokens`;
    },
  ),
  checkOf("FMT-08", "Sends a schema with every annotation.", ["annotations"], (context) => {
    completionOf(context.answer("annotations"));
    return "accepted";
  }),
  checkOf(
    "FMT-11",
    "Reads `param` of every invalid_schema of the run.",
    ["a bad schema, streamed and not", "plain"],
    (context) => {
      const refused = context.all.filter((answer) => valueAt(answer.json, "/error/code") === "invalid_schema");
      for (const answer of refused) {
        const param = textAt(answer.json, "/error/param") ?? "";
        must(
          param.startsWith(schemaPath) || /^tools\[\d+\]\.function\.parameters/.test(param),
          answer,
          "an error.param that is the path of the schema",
          `error.param ${show(param)}`,
        );
      }
      return refused.length > 0 ? `${refused.length} answers` : cannot("no schema was refused with invalid_schema");
    },
  ),
  checkOf(
    "FMT-13",
    "Sends a bad schema, streamed and not.",
    ["a bad schema, streamed and not", "JSON by schema"],
    (context) =>
      context
        .answers("a bad schema, streamed and not")
        .map((answer) => mustRefuse(answer, { status: 400, code: "invalid_schema" }))
        .join("; "),
  ),
  checkOf("FMT-14", "Joins the pieces of a stream and validates them.", ["JSON by schema, streamed"], (context) =>
    mustBeListed(context.answer("JSON by schema, streamed")),
  ),
  checkOf(
    "FMT-15",
    "Asks for JSON by a schema with at most three tokens.",
    ["JSON cut off by max tokens"],
    (context) => {
      const answer = context.answer("JSON cut off by max tokens");
      completionOf(answer);
      must(finishOf(answer) === "length", answer, 'finish_reason "length"', `finish_reason ${show(finishOf(answer))}`);
      must(
        parse(contentOf(answer)) === undefined,
        answer,
        "content that breaks off",
        `the content ${show(contentOf(answer))}`,
      );
      return show(contentOf(answer));
    },
  ),
];

export const fmt: TestGroup = { steps: [...plans.steps, ...steps], checks: [...plans.checks, ...checks] };
