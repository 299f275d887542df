import { startTestServer } from "@parley/server/testing";

/** Parley with the scripted engine, as a process that reports its own CPU time. */
const thousand = [
  { role: true as const, tokens: 0 },
  { repeat: 1000, steps: [{ text: " token" }] },
  { finish: "stop" as const },
];
const server = await startTestServer({
  settings: { apiKey: "bench-key-0123456789", logLevel: "silent" },
  scenarios: { thousand },
});

process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system });
});
process.send?.({ url: server.origin });
