import { chat, play } from "../ask.ts";
import { aim, bound } from "../row.ts";
import type { Row } from "../row.ts";
import { pause } from "../sockets.ts";

const long = [
  { role: true as const },
  { repeat: 600, steps: [{ text: "a " }, { wait_ms: 100 }] },
  { finish: "stop" as const },
];

export const keysDisabled: Row = {
  name: "keys/disabled",
  action: "a key is disabled while four of its streams run, which would take a minute",
  engine: "scripted",
  scenarios: { long },
  attack: async ({ target, signal, makeKey, parley }) => {
    const { id, token } = await makeKey();
    const streams = Array.from({ length: 4 }, async () => {
      const { text } = await chat(target.origin, token, { ...play("long"), stream: true });
      return { text, endedMs: performance.now() };
    });
    await pause(1000, signal);
    await parley("keys", "disable", id);
    const disabledMs = performance.now();
    const ended = await Promise.all(streams);
    const told = ended.filter(({ text }) => text.includes('"invalid_api_key"') && !text.includes("[DONE]")).length;
    const slowest = Math.max(...ended.map(({ endedMs }) => endedMs - disabledMs));
    return [
      bound("every stream ends with the error invalid_api_key", told === 4, `${told} of 4`),
      aim("within a second of the command's end", slowest <= 1000, `${Math.round(slowest)} ms`),
    ];
  },
};
