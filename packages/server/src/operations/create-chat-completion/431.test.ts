import { testHugeHeaders } from "../../../test/refused-heads.ts";

testHugeHeaders("POST /v1/chat/completions");
