import { answerFaults } from "./answers.ts";
import type { UnseenFault } from "./fault.ts";
import { requestFaults } from "./requests.ts";
import { serviceFaults } from "./service.ts";
import { streamLineFaults } from "./stream-lines.ts";
import { streamFaults } from "./streams.ts";
import { toolFaults } from "./tools.ts";

/**
 * Faults of real servers, held out from the seeded bugs: no clause names them and no check was written for one of them. They
 * measure the suite; `mutants/measure-unseen.ts` runs it against each.
 */
export const unseenFaults: readonly UnseenFault[] = [
  ...answerFaults,
  ...streamFaults,
  ...streamLineFaults,
  ...requestFaults,
  ...toolFaults,
  ...serviceFaults,
];
