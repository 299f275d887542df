import { runnerNames } from "../step.ts";
import type { Step } from "../step.ts";

/** A step that a test makes up: it runs a line of JavaScript. */
export const probe = (code: string, others: Partial<Step> = {}): Step => ({
  name: "probe",
  purpose: "for a test",
  command: ["node", "-e", code],
  needs: [],
  inputs: [],
  outputs: [],
  archives: [],
  image: "node",
  services: [],
  secrets: [],
  environment: {},
  cores: 1,
  timeLimitSeconds: 60,
  counts: "one",
  runners: runnerNames,
  ...others,
});
