// For HTTP libraries: the text of the chunks, and the word ERROR where the error event came.
export async function say(bytes, tell) {
  const text = bytes.toString();
  for (const [, content] of text.matchAll(/"content":"([^"]*)"/g)) await tell(content);
  if (text.includes('"error":')) await tell(" ERROR");
}
