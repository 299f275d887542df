import { testLongUrls } from "../../../test/refused-heads.ts";

testLongUrls("GET /v1/usage/req_1");
