import { post } from "../ask.ts";
import { bound, figure } from "../row.ts";
import type { Row } from "../row.ts";
import { repeatedly, Tally } from "../sockets.ts";

/** A body that one key sends again and again, on four connections at once. */
interface HostileBody {
  readonly name: string;
  readonly action: string;
  readonly body: () => string;
  /** The correct statuses. 429 is always correct, because the key may have exceeded its limit per minute. */
  readonly statuses: readonly number[];
}

export const bodyRow = ({ name, action, body, statuses }: HostileBody): Row => ({
  name,
  action: `${action}, four at once`,
  engine: "scripted",
  attack: async ({ target, signal, makeKey }) => {
    const { token } = await makeKey();
    const bytes = Buffer.from(body());
    const answers = new Tally();
    await repeatedly(4, signal, async () => answers.add((await post(target.origin, token, bytes)).status));
    return [
      figure("megabytes of a body", (bytes.length / 1e6).toFixed(2)),
      bound(`only ${statuses.join(" or ")} and 429`, answers.holdsOnly(...statuses, 429), String(answers)),
    ];
  },
});
