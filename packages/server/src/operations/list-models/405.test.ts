import { testWrongMethods } from "../../../test/refused-heads.ts";

testWrongMethods(["/v1/models"], "GET", ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]);
