import { chat } from "../ask.ts";
import { bound } from "../row.ts";
import type { Row } from "../row.ts";
import { repeatedly, Tally } from "../sockets.ts";

/** Makes a different schema for each request, so that no cache has it. */
function hardSchema(turn: number): object {
  const branch = (index: number): object => ({
    type: "object",
    properties: {
      [`kind_${turn}_${index}`]: { const: index },
      text: { type: "string", pattern: `^(a|b)*c{1,${20 + (index % 30)}}(x|y|zz)+$`, maxLength: 500 },
      items: { type: "array", items: { type: "string", maxLength: 100 }, minItems: 1, maxItems: 50 },
    },
    required: [`kind_${turn}_${index}`],
    additionalProperties: { type: "number", minimum: index, maximum: index * 1000 + 7 },
  });
  return { anyOf: Array.from({ length: 200 }, (_none, index) => branch(index)) };
}

export const bodySchemas: Row = {
  name: "body/schemas",
  action: "a schema of 200 branches with patterns, another one each time, eight at once",
  engine: "scripted",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const answers = new Tally();
    let turn = 0;
    await repeatedly(8, signal, async () => {
      const schema = hardSchema((turn += 1));
      const format = { type: "json_schema", json_schema: { name: "a", strict: true, schema } };
      const { status } = await chat(target.origin, token, { response_format: format }, { signal });
      answers.add(status);
    });
    return [bound("only 200, 400 and 429", answers.holdsOnly(200, 400, 429), String(answers))];
  },
};
