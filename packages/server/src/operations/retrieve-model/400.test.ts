import { testBrokenHeads } from "../../../test/refused-heads.ts";

testBrokenHeads("GET /v1/models/vendor/model-1");
