import { testHugeHeaders } from "../../../test/refused-heads.ts";

testHugeHeaders("GET /v1/key");
