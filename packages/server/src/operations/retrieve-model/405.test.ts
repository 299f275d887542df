import { testWrongMethods } from "../../../test/refused-heads.ts";

testWrongMethods(["/v1/models/vendor/model-1", "/v1/models/vendor%2Fmodel-1", "/v1/models/unknown"], "GET", [
  "POST",
  "PUT",
  "DELETE",
  "HEAD",
  "OPTIONS",
]);
