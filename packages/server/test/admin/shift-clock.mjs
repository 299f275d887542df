import { readFileSync } from "node:fs";

// Loaded before a server (`node --import`): its wall clock is ahead by the milliseconds in the file that CLOCK_FILE names.
const { now } = Date;
Date.now = () => now() + Number(readFileSync(process.env["CLOCK_FILE"] ?? "", "utf8"));
