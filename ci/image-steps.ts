import { step, suite } from "./define-step.ts";
import { server } from "./inputs.ts";
import { archiveOf } from "./step.ts";
import type { Step } from "./step.ts";

/** The steps that build the server's image and look at it, and at the chart that installs it. */
export const imageSteps: readonly Step[] = [
  step({
    name: "image",
    purpose: "the server's image starts and answers a chat",
    command: ["node", "ci/ask-image.ts"],
    services: ["server-image"],
    secrets: ["PARLEY_API_KEY"],
    inputs: ["deploy", ...server],
    timeLimitSeconds: 600,
  }),
  suite({
    name: "image:container",
    purpose: "the image runs without root, tells its health and stops in good order",
    inputs: ["deploy", ...server],
    needs: ["image"],
    runners: ["host"],
  }),
  suite({
    name: "chart",
    purpose: "the chart's values and fronts, and with Helm its objects, its server and its faults",
    inputs: ["deploy", "package.json", ...server],
    cores: 1,
  }),
  step({
    name: "scan",
    purpose: "Trivy knows no serious hole in the server's image that has a fix",
    command: [
      "trivy",
      "image",
      "--input",
      archiveOf("server"),
      "--severity",
      "HIGH,CRITICAL",
      "--ignore-unfixed",
      "--exit-code",
      "1",
    ],
    image: "trivy",
    archives: ["server"],
    needs: ["image"],
    inputs: ["deploy", ...server],
    timeLimitSeconds: 900,
  }),
];
