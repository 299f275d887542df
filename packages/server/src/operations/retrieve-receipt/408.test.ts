import { testSlowHeads } from "../../../test/refused-heads.ts";

testSlowHeads("GET /v1/usage/req_1");
