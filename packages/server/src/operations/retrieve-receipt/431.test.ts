import { testHugeHeaders } from "../../../test/refused-heads.ts";

testHugeHeaders("GET /v1/usage/req_1");
