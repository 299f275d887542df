import { describe, expect, expectTypeOf, test } from "vitest";
import { APIError, ConnectionError, IncompleteStreamError, ParleyError, hasCode } from "./errors.ts";
import type { ErrorWithCode } from "./errors.ts";
import { askCaller } from "./retry-advice.ts";

const limited: unknown = new APIError("Wait.", {
  code: "rate_limit_exceeded",
  type: "rate_limit_error",
  status: 429,
  param: null,
  details: { limit: "tokens" },
  requestId: "req_1",
  retry: { helps: "after-wait", afterMs: 1, isAutomatic: true },
});

describe("hasCode", () => {
  test("narrows by code, and only errors of this package", () => {
    expect(hasCode(limited, "rate_limit_exceeded", "capacity_exhausted")).toBe(true);
    expect(hasCode(limited, "capacity_exhausted")).toBe(false);
    expect(hasCode({ code: "timeout" }, "timeout")).toBe(false);
    expect(hasCode(undefined, "timeout")).toBe(false);
    expect(hasCode(new IncompleteStreamError("x", { retry: askCaller }), "incomplete_stream")).toBe(true);
  });

  test("types the fields as the contract does for the code", () => {
    if (!hasCode(limited, "rate_limit_exceeded", "model_not_found", "connection_error")) throw limited;
    expectTypeOf<typeof limited.code>().toEqualTypeOf<"rate_limit_exceeded" | "model_not_found" | "connection_error">();
    if (limited.code !== "rate_limit_exceeded") throw limited;
    expectTypeOf<typeof limited.details.limit>().toEqualTypeOf<"requests" | "tokens" | "concurrency" | "bytes">();
    expectTypeOf<typeof limited.param>().toEqualTypeOf<null>();
    expect(limited.details.limit).toBe("tokens");
    expectTypeOf<ErrorWithCode<"model_not_found">["param"]>().toEqualTypeOf<string>();
    expectTypeOf<ErrorWithCode<"connection_error">>().toEqualTypeOf<ConnectionError>();
  });
});

test("an error is an Error with a name and a message, and with a cause only if there is one", () => {
  const cause = new Error("refused");
  const error = new ConnectionError("No way.", { retry: askCaller, cause });
  expect(error).toBeInstanceOf(ParleyError);
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toBe("ConnectionError: No way.");
  expect(error).toMatchObject({ code: "connection_error", cause, chunks: [], retry: askCaller });
  expect("cause" in new ConnectionError("No way.", { retry: askCaller })).toBe(false);
});
