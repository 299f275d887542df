import { stringify } from "yaml";
import { valueAt } from "@parley/contract/document";
import type { Document, JsonObject } from "@parley/contract/document";
import { to30 } from "./to-3.0.ts";
import { to32 } from "./to-3.2.ts";

/** Returns the served forms of the contract by file name: three versions of OpenAPI, and its streams alone. */
export function contractFiles(contract: Document): Map<string, string> {
  // A bundle is JSON. Its type declares only the members that tests read.
  const canonical = contract as unknown as JsonObject;
  return new Map([
    ...formats("openapi", canonical),
    ...formats("openapi-3.0", to30(canonical)),
    ...formats("openapi-3.2", to32(canonical)),
    ["streams.json", toJson(streamsAlone(canonical))],
  ]);
}

const toJson = (document: JsonObject): string => `${JSON.stringify(document, undefined, 1)}\n`;

/** Parsers of YAML 1.1, as in Python and Ruby, would read `on` and `no` as booleans, and some texts as dates. */
const toYaml = (document: JsonObject): string =>
  stringify(document, { compat: "yaml-1.1", aliasDuplicateObjects: false, lineWidth: 120 });

const formats = (name: string, document: JsonObject): (readonly [file: string, text: string])[] => [
  [`${name}.json`, toJson(document)],
  [`${name}.yaml`, toYaml(document)],
];

const streamsIntroduction = `The data of one event of a streamed chat completion, and how the events follow each other.

A stream is \`text/event-stream\` in UTF-8, as the HTML standard defines it. Where the data of an event is the text \`[DONE]\`, the answer is whole and the stream ends. Every other data is one JSON object, which this schema describes. An object with \`error\` ends the stream, and no \`[DONE]\` follows. A stream that ends in any other way is not whole. Accept values of an \`enum\` and members that this schema does not know: a later version may add some.

\`x-streams\` has the order of the events as a state machine and explains itself in \`words\`. \`x-transcripts\` has whole streams; \`x-inputs\` is what the request of each asked for.`;

/** Returns the JSON Schema of an event, the state machine of the events, and the example streams. */
function streamsAlone(contract: JsonObject): JsonObject {
  const schemas = valueAt(contract, "/components/schemas") as Record<string, JsonObject>; // lint demands it
  const stream = valueAt(contract, "/paths/~1v1~1chat~1completions/post/responses/200/content/text~1event-stream");
  const $defs: JsonObject = {};
  const take = (text: string): void => {
    for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if ($defs[name] !== undefined) continue;
      $defs[name] = schemas[name] ?? {};
      take(JSON.stringify($defs[name]));
    }
  };
  take('"#/components/schemas/StreamEvent"');
  const document = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "An event of a streamed chat completion",
    description: streamsIntroduction,
    $ref: "#/components/schemas/StreamEvent",
    $defs,
    "x-streams": contract["x-streams"] ?? {},
    "x-transcripts": valueAt(stream, "/x-transcripts"),
  };
  return JSON.parse(JSON.stringify(document).replaceAll("#/components/schemas/", "#/$defs/")) as JsonObject;
}
