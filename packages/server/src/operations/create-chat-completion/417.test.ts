import { testExpectations } from "../../../test/refused-heads.ts";

testExpectations("POST /v1/chat/completions");
