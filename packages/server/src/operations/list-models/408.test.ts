import { testSlowHeads } from "../../../test/refused-heads.ts";

testSlowHeads("GET /v1/models");
