/** Every body, of a request or an answer, has an example or, if it is a stream, a transcript. */
export function bodyExample() {
  return {
    MediaType(media, { report, location }) {
      const examples = media.examples ?? media["x-transcripts"] ?? {};
      const hasExample = media.example !== undefined || Object.keys(examples).length > 0;
      if (!hasExample) report({ message: "A body needs an example.", location });
    },
  };
}
