import { expect, test } from "vitest";
import { testKey } from "@parley/server/testing";
import { exchange, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();

test.each(["POST", "PUT", "DELETE", "HEAD", "OPTIONS"])(
  "HTTP-02 HTTP-03 HTTP-04 %s is answered with the methods that there are",
  async (method) => {
    for (const path of ["/v1/usage/req_1", "/v1/models/vendor%2Fmodel-1", "/v1/models/unknown"]) {
      const headers = { Authorization: `Bearer ${testKey}` };
      const answer = await exchange(server().origin, requestText(`${method} ${path}`, headers));
      expect(answer).toMatchObject({ status: 405, headers: { allow: "GET" } });
    }
  },
);
