import { testWrongMethods } from "../../../test/refused-heads.ts";

testWrongMethods(["/v1/key"], "GET", ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]);
