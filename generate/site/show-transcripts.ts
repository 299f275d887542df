import { operationsOf } from "@parley/contract/document";
import type { Document, Example } from "@parley/contract/document";

/**
 * Returns a copy of the contract for the reference page. The page shows `examples` but not our own `x-transcripts`, so the
 * complete streams become examples, in front of the single events.
 */
export function showTranscripts(contract: Document): Document {
  const shown = structuredClone(contract);
  for (const { responses } of operationsOf(shown))
    for (const { content = {} } of Object.values(responses))
      for (const media of Object.values(content)) {
        const transcripts = Object.entries(media["x-transcripts"] ?? {}).map(
          ([name, { summary, value }]): readonly [string, Example] => [
            `stream-${name}`,
            { summary: `Whole stream: ${lowerFirst(summary)}`, value },
          ],
        );
        if (transcripts.length > 0) media.examples = { ...Object.fromEntries(transcripts), ...media.examples };
      }
  return shown;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
