import { ask, chat, play } from "../ask.ts";
import { bound } from "../row.ts";
import type { Row } from "../row.ts";
import { pause, Tally } from "../sockets.ts";

const long = [
  { role: true as const },
  { repeat: 30, steps: [{ text: "a " }, { wait_ms: 100 }] },
  { finish: "stop" as const },
];

export const stopLameDuck: Row = {
  name: "stop/lame-duck",
  action: "SIGTERM while a stream runs, with PARLEY_LAME_DUCK_SECONDS=5",
  engine: "scripted",
  settings: { PARLEY_LAME_DUCK_SECONDS: "5" },
  scenarios: { long },
  endsServer: true,
  attack: async ({ target, makeKey }) => {
    const { token } = await makeKey();
    const stream = chat(target.origin, token, { ...play("long"), stream: true });
    const before = await ask({ url: `${target.origin}/ready` });
    process.kill(target.pid, "SIGTERM");
    // The port stays open during these 3.5 s of the lame-duck time, however long the attack takes.
    const end = AbortSignal.timeout(3500);
    await pause(500, end);
    const states = new Tally();
    do {
      const { status, text } = await ask({ url: `${target.origin}/ready` });
      states.add(`${status} ${/"status":"(\w+)"/.exec(text)?.[1]}`);
      await pause(100, end);
    } while (!end.aborted);
    const { text } = await stream;
    return [
      bound("/ready is 200 before", before.status === 200, before.status),
      bound("/ready says draining, while the port answers", states.holdsOnly("503 draining"), String(states)),
      bound("a running stream ends whole", text.includes("[DONE]"), text.slice(-20).trim()),
    ];
  },
};
