export { Connection } from "../../src/wire/connection.ts";
export { container, containerProgram, image, ownContainers } from "./containers.ts";
export { pidOf, processesOf, sharedSegments } from "./processes.ts";
export { MeasuredTable, addFault, faultTable, outcomeOf } from "./report.ts";
export type { Row } from "./report.ts";
export { freePort, routers, startRouter } from "./routers.ts";
export { mountSmallDisk } from "./small-disk.ts";
export { installFolder, isWhole, neverEnding, startVllm } from "./start-vllm.ts";
export type { StartedVllm } from "./start-vllm.ts";
