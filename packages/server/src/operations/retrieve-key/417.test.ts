import { testExpectations } from "../../../test/refused-heads.ts";

testExpectations("GET /v1/key");
