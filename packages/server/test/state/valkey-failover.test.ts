import { Valkey } from "iovalkey";
import { describe, expect, onTestFinished, test } from "vitest";
import { overallLimits, startValkey, until, valkeyProgram } from "@parley/server/testing";
import type { LimitedKey } from "../../src/accounts/limits/limit-store.ts";
import { openValkey } from "../../src/state/valkey/open-valkey.ts";
import { startProxy } from "./silent-proxy.ts";

const key: LimitedKey = { keyId: "key", perMinute: { requests: 60, tokens: 6000 }, concurrency: 1 };

describe.skipIf(valkeyProgram === undefined)("a replica that is promoted (this needs Valkey or Redis)", () => {
  test.each(["was killed", "still runs, as a replica"])(
    "continues the limits at the same address after the primary %s",
    async (end) => {
      await using primary = await startValkey("--repl-diskless-sync-delay", "0");
      await using replica = await startValkey("--replicaof", `127.0.0.1 ${primary.port}`);
      await using proxy = await startProxy(primary.port);
      const [old, promoted] = [primary, replica].map(({ port }) => new Valkey(port, "127.0.0.1").on("error", () => {}));
      onTestFinished(() => [old, promoted].forEach((admin) => admin?.disconnect()));
      await until(
        () => promoted?.info("replication"),
        (text) => text?.includes("master_link_status:up") === true,
        20_000,
      );
      const times = { leaseMs: 20_000, renewMs: 200 };
      await using opened = await openValkey(`valkey://127.0.0.1:${proxy.port}`, overallLimits, times);
      const { limits } = opened;
      const lease = await limits.take(key);
      if (!("commit" in lease)) throw new Error("was refused");
      await lease.takeTokens(6000);
      // The replica has everything that was written before the marker.
      await old?.set("marker", "1");
      expect(await old?.wait(1, 5000)).toBe(1);

      if (end === "was killed") await primary.signal("SIGKILL");
      await promoted?.replicaof("NO", "ONE");
      proxy.redirect(replica.port);
      if (end !== "was killed") await old?.replicaof("127.0.0.1", replica.port);

      // A renewal notices a primary that became a replica.
      await until(
        () =>
          limits.renew().then(
            () => true,
            () => false,
          ),
        Boolean,
      );
      expect(await limits.take(key)).toMatchObject({ limit: "concurrency" });
      expect((await limits.states(key)).tokens.remaining).toBeLessThan(1500);
      await lease.commit(6000);
      expect(await limits.take(key)).toHaveProperty("commit");
      expect(await promoted?.get("parley:bucket:key:key")).not.toBeNull();
    },
    60_000,
  );
});
