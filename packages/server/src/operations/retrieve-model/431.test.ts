import { testHugeHeaders } from "../../../test/refused-heads.ts";

testHugeHeaders("GET /v1/models/vendor/model-1");
