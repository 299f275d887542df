import { testWrongMethods } from "../../../test/refused-heads.ts";

testWrongMethods(["/v1/chat/completions"], "POST", [
  "GET",
  "PUT",
  "DELETE",
  "PATCH",
  "HEAD",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
]);
