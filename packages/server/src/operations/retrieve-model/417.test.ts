import { testExpectations } from "../../../test/refused-heads.ts";

testExpectations("GET /v1/models/vendor/model-1");
