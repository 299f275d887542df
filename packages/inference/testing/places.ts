// For tests only: a vitest hook closes these places after each test.
export { chatWell, chunk, done, replay, say } from "./chat-places.ts";
export { answerWell as answerPlace, open as openPlace, refuse as refusePlace } from "./remote-places.ts";
export type { Place } from "./remote-places.ts";
