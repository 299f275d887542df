import { testWrongMethods } from "../../../test/refused-heads.ts";

testWrongMethods(["/v1/usage/req_1"], "GET", ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]);
