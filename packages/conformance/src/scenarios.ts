import type { ConformanceProfile } from "./profile.ts";
import { deadlineMs } from "./profile.ts";

/** A step of a scripted engine, in the format of Parley's own. */
export type ScriptStep = Readonly<Record<string, unknown>>;

const role = { role: true, tokens: 0 };
const text = (word: string): ScriptStep => ({ text: word });
const stop = { finish: "stop" };

/** The pause between two texts of the paced scenario. */
export const paceMs = 500;
const paced = [" two", " three", " four"].flatMap((word) => [{ wait_ms: paceMs }, text(word)]);
export const pacedText = "one two three four";
/** The pause between two tokens of the endless scenario. */
export const endlessPaceMs = 20;
/** The number of texts of the slow scenario, which takes at least 50 ms for each. */
const slowTexts = 60;
export const slowText = "on ".repeat(slowTexts);
export const wideCharacters = ["a😀", "é", "👩‍👩‍👧", "שלום"];
/** Text around the characters that some readers of lines split at, apart from CR and LF. */
export const lineEndText = "a\u0085b\u2028c\u2029d\u000be\u000cf\u001cg\u001dh\u001ei\u007fj";
/** Details in the failures of the scripted engine, which no caller may receive. */
export const engineSecrets = ["10.9.8.7:4711", "/srv/engine/worker.py", "Traceback"];
const failure = { fail: `${engineSecrets[2]}: ${engineSecrets[1]} line 12 at ${engineSecrets[0]}` };

/**
 * The scenarios that a scripted engine behind the service plays when the last user message is `script:NAME`: failures, silences
 * and pauses that no ordinary model produces on demand. The waits follow the deadlines of the deployment.
 */
export function scenariosFor(profile: ConformanceProfile): Readonly<Record<string, readonly ScriptStep[]>> {
  const patience = deadlineMs(profile, "firstEventPatienceSeconds");
  const silence = deadlineMs(profile, "keepAliveSeconds");
  return {
    "conformance-late-failure": [role, text("one"), text(" two"), failure],
    "conformance-early-failure": [failure],
    "conformance-refusal": [{ refuse: "The template refuses these messages: roles must alternate." }],
    "conformance-reset": [{ reset: true }],
    "conformance-no-finish": [role, text("one"), text(" two")],
    "conformance-odd-finish": [role, text("one"), { finish: "abort" }],
    "conformance-slow-start": [{ wait_ms: patience + 2000 }, role, text("late"), stop],
    "conformance-silence": [role, text("one"), { wait_ms: Math.round(silence * 2.5) }, text(" two"), stop],
    "conformance-paced": [role, text("one"), ...paced, stop],
    "conformance-characters": [role, { split: true }, ...wideCharacters.map(text), stop],
    "conformance-line-ends": [role, { reasoning: lineEndText }, text(lineEndText), stop],
    "conformance-stall": [role, text("one"), { stall: true }],
    "conformance-never": [{ stall: true }],
    "conformance-endless": [role, { repeat: 100_000, steps: [text("on "), { wait_ms: endlessPaceMs }] }],
    "conformance-slow": [role, { repeat: slowTexts, steps: [text("on "), { wait_ms: 50 }] }, stop],
    "conformance-flood": [role, { repeat: 40_000, steps: [text("on ".repeat(400))] }, stop],
    "conformance-long": [role, { repeat: 400, steps: [text("on ")] }, stop],
    "conformance-death": [role, text("one"), text(" two"), { wait_ms: 200 }, { die: true }],
  };
}
