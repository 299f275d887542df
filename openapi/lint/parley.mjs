// The rules of this contract that Redocly does not have. Each is shown to fail in ../lint.test.ts.
import { answerEnum } from "./answer-enum.mjs";
import { bodyExample } from "./body-example.mjs";
import { description } from "./description.mjs";
import { namedArray } from "./named-array.mjs";
import { operationStatuses } from "./operation-statuses.mjs";
import { requestBounds } from "./request-bounds.mjs";
import { requestNoDefault } from "./request-no-default.mjs";
import { requestNull } from "./request-null.mjs";

// Redocly looks for the default export of a plugin.
// oxlint-disable-next-line import/no-default-export
export default function parley() {
  return {
    id: "parley",
    rules: {
      oas3: {
        "answer-enum": answerEnum,
        "body-example": bodyExample,
        description,
        "named-array": namedArray,
        "operation-statuses": operationStatuses,
        "request-bounds": requestBounds,
        "request-no-default": requestNoDefault,
        "request-null": requestNull,
      },
    },
  };
}
