import type { ChoiceDelta } from "../../answer/combine-choices.ts";
import type { EngineEvent, Generation } from "../../engine.ts";
import type { EngineCore } from "../../child/serve.ts";
import { Choice } from "./choice.ts";
import type { LoadedModel } from "./load-model.ts";
import { combineChoices } from "../../answer/combine-choices.ts";
import { maxCounted } from "../../prompt/max-counted.ts";
import type { Prompt } from "../../prompt/render-prompt.ts";
import type { PromptThreads } from "../../prompt/prompt-threads.ts";
import { foldSeed } from "./sampler.ts";
import type { Slot, SlotUser } from "./slot.ts";
import { SlotPool } from "./slot-pool.ts";

/** Renders prompts of one model, and generates with it: acquires slots, runs the choices. */
export function llamaCore(model: LoadedModel, prompts: PromptThreads): EngineCore<Prompt> {
  return {
    prepare: async (request, signal) => {
      const prompt = await prompts.render(request, signal, maxCounted(model.plan.contextLength));
      return { tokens: prompt.tokens.length, prompt };
    },
    generate: (prompt, request, signal) => generate(model, prompt, request, signal),
    status: () => ({
      running: model.slots.running,
      waiting: model.slots.waiting,
      computing: model.progress.computing,
      progress: model.progress.tokens,
    }),
  };
}

async function* generate(
  model: LoadedModel,
  prompt: Prompt,
  request: Generation,
  signal: AbortSignal,
): AsyncGenerator<readonly EngineEvent[]> {
  const user = userOf(request, prompt);
  const slots = await model.slots.take(Math.min(request.n, model.plan.slots), signal, (slot) => slot.reusable(user));
  // If there are more choices than slots, the choices share the slots of their request one after the other.
  const own = new SlotPool(slots);
  const held = new Set(slots);
  const pass = (slot: Slot): void => {
    if (own.waiting > 0) return own.release([slot]);
    held.delete(slot);
    model.slots.release([slot]);
  };
  const stop = new AbortController();
  const untilStopped = AbortSignal.any([signal, stop.signal]);
  try {
    const choices = Array.from({ length: request.n }, (_, index) => {
      const seed = foldSeed(request.seed, index, Math.random);
      const run: RunInSlot = (slot) => new Choice({ request, prompt, seed, user }, model, slot).run(untilStopped);
      return inSlot({ pool: own, pass }, untilStopped, run);
    });
    yield* combineChoices(choices, () => stop.abort());
  } finally {
    model.slots.release([...held]);
    model.whenIdle();
  }
}

/** With a seed, the text must depend only on the request. */
const userOf = ({ seed, origin }: Generation, { tokens }: Prompt): SlotUser => ({
  isSolo: seed !== undefined,
  key: origin?.key,
  prompt: tokens,
});

type RunInSlot = (slot: Slot) => AsyncGenerator<readonly ChoiceDelta[]>;

/** The slots of one request. */
interface OwnSlots {
  readonly pool: SlotPool;
  /** Resolves when a choice has released its slot. */
  readonly pass: (slot: Slot) => void;
}

/** Runs a choice once a slot is free. When the signal aborts, it ends early and without a finish. */
async function* inSlot(
  { pool, pass }: OwnSlots,
  signal: AbortSignal,
  run: RunInSlot,
): AsyncGenerator<readonly ChoiceDelta[]> {
  const slots = await pool.take(1, signal).catch((error: unknown) => {
    if (signal.aborted) return [];
    throw error;
  });
  for (const slot of slots) {
    try {
      yield* run(slot);
    } finally {
      pass(slot);
    }
  }
}
