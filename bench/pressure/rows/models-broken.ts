import { ask } from "../ask.ts";
import { bound, figure } from "../row.ts";
import type { Row } from "../row.ts";
import { pause } from "../sockets.ts";

export const modelsBroken: Row = {
  name: "models/one-broken",
  action: "the file of one of two models is missing; the other one is asked",
  engine: "embedded",
  settings: { PARLEY_MODEL_1_GGUF: "/nowhere/missing.gguf" },
  neighbourModel: "vendor/model-1-mini",
  attack: async ({ target, signal }) => {
    const { status, text } = await ask({ url: `${target.origin}/ready?model=vendor/model-1` });
    const all = await ask({ url: `${target.origin}/ready` });
    await pause(60_000, signal);
    return [
      bound(
        "/ready of the broken model is 503 and names the file",
        status === 503 && text.includes("missing.gguf"),
        status,
      ),
      bound("/ready is 200", all.status === 200, all.status),
      figure("reason", text.slice(0, 200)),
    ];
  },
};
