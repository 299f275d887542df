const encoder = new TextEncoder();
export const utf8 = (text: string): readonly number[] => [...encoder.encode(text)];

export const bytesOfSentencePiece = (spelling: string): readonly number[] => utf8(spelling.replaceAll("▁", " "));

/**
 * Byte-level BPE represents every byte by a printable character: printable Latin-1 characters represent themselves, and
 * the 68 other bytes are numbered from U+0100. This is GPT-2's encoding, which every byte-level tokenizer has adopted.
 */
const byteOfCharacter = new Map<string, number>();
for (let byte = 0, shifted = 0x100; byte < 256; byte += 1) {
  const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  byteOfCharacter.set(String.fromCodePoint(isPrintable ? byte : shifted++), byte);
}

export const bytesOfByteLevel = (spelling: string): readonly number[] =>
  Array.from(spelling).flatMap((character) => {
    const byte = byteOfCharacter.get(character);
    return byte === undefined ? utf8(character) : [byte];
  });
