import { testBrokenHeads } from "../../../test/refused-heads.ts";

testBrokenHeads("GET /v1/key");
