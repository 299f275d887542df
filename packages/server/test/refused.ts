import { expect } from "vitest";
import type { TestInit, TestServer } from "@parley/server/testing";

export interface Want {
  readonly status?: number;
  readonly code: string;
  readonly param: string | null;
}

/**
 * Asserts that a chat request is refused with exactly this error, streamed or not (ERR-07), and that the message names the
 * member at fault (ERR-12). Returns the message.
 */
export async function assertRefused(
  server: TestServer,
  members: Readonly<Record<string, unknown>>,
  { status = 400, code, param }: Want,
  init?: TestInit,
): Promise<string> {
  const plain = await server.refuse(members, init);
  expect(plain).toMatchObject({ status, code, param });
  if (!("stream" in members)) {
    const streamed = await server.refuse({ ...members, stream: true }, init);
    expect(streamed).toMatchObject({ status, code, param, type: plain.type });
  }
  if (param !== null) expect(plain.message).toContain(param);
  return plain.message;
}
