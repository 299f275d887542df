import { afterAll, beforeAll, describe } from "vitest";
import type { Engine } from "../src/index.ts";
import {
  describeCancelling,
  describeCounting,
  describePreparing,
  describeRefusals,
  describeTurns,
} from "./engine-contract/conduct.ts";
import { describeCaps, describeEvents } from "./engine-contract/events.ts";
import { describeFormats } from "./engine-contract/formats.ts";
import type { Given } from "./engine-contract/given.ts";
import { describeLogprobs, describeRepeats, describeStops } from "./engine-contract/text.ts";
import type { Ask } from "../testing/requests.ts";

/** A driver, and how to start and use it in these tests. */
export interface EngineUnderTest {
  readonly title: string;
  start(): Promise<Engine & AsyncDisposable>;
  /** Changes a request so that its answer has at least 40 tokens, if its token limit allows that. */
  talkative(members: Ask): Ask;
}

/** Tests the rules that every driver has to keep. */
export function testEngineContract(subject: EngineUnderTest): void {
  let engine: Engine & AsyncDisposable;
  beforeAll(async () => {
    engine = await subject.start();
    await engine.whenReady();
  });
  afterAll(() => engine[Symbol.asyncDispose]());
  const given: Given = { engine: () => engine, talkative: (members) => subject.talkative(members) };
  describe(`${subject.title} keeps the engines' contract`, () => {
    describeEvents(given);
    describeCaps(given);
    describeStops(given);
    describeRepeats(given);
    describeLogprobs(given);
    describeFormats(given);
    describeCancelling(given);
    describeCounting(given);
    describePreparing(given);
    describeTurns(given);
    describeRefusals(given);
  });
}
