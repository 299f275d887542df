import { testBrokenHeads } from "../../../test/refused-heads.ts";

testBrokenHeads("GET /v1/usage/req_1");
