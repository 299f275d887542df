/** Every body, of a request or an answer, has an example. */
export function bodyExample() {
  return {
    MediaType(media, { report, location }) {
      const hasExample = media.example !== undefined || Object.keys(media.examples ?? {}).length > 0;
      if (!hasExample) report({ message: "A body needs an example.", location });
    },
  };
}
