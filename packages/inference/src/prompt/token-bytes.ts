const encoder = new TextEncoder();
export const utf8 = (text: string): readonly number[] => [...encoder.encode(text)];

export const bytesOfSentencePiece = (spelling: string): readonly number[] => utf8(spelling.replaceAll("▁", " "));

/**
 * Byte-level BPE writes every byte as a printable character: printable Latin-1 stands for itself, the 68 others are
 * numbered from U+0100 on (GPT-2's encoder, since copied by every byte-level tokenizer).
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
