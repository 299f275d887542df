import { testLongUrls } from "../../../test/refused-heads.ts";

testLongUrls("POST /v1/chat/completions");
