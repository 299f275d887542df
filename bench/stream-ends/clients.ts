/** A program that reads streams, by the folder of `install.sh` that it lies in. */
export interface Client {
  readonly name: string;
  readonly folder: string;
  readonly command: readonly string[];
  /** True if the client is a proxy itself, so that it runs only on the direct route. */
  readonly isDirectOnly?: boolean;
  /** Its messages say nothing more than its lines. */
  readonly isSilent?: boolean;
}

const node = (name: string, file: string): Client => ({
  name,
  folder: "node",
  command: [process.execPath, file],
  isSilent: true,
});
const python = (name: string, ...command: readonly string[]): Client => ({
  name,
  folder: "python",
  command: ["venv/bin/python", ...command],
  isSilent: true,
});
const go = (name: string): Client => ({ name, folder: "go", command: ["./clients", name.split(" ", 1).join("")] });
const java = (name: string, lib: string, main: string): Client => ({
  name,
  folder: "java",
  command: ["java", "-cp", `${lib}/classes:${lib}/lib/*`, main],
  isSilent: true,
});

export const clients: readonly Client[] = [
  node("openai-node 7.57.0", "openai.mjs"),
  node("openai-node, stream()", "openai-helper.mjs"),
  python("openai-python 3.57.0", "openai_sdk.py"),
  go("openai-go 3.98.0"),
  java("openai-java 4.101.0", "openai-java", "OpenAIJava"),
  go("go-openai 1.43.0"),
  node("Vercel AI SDK 7.0.173", "ai.mjs"),
  node("LangChain JS 1.6.0", "langchain.mjs"),
  java("langchain4j 1.4.0", "langchain4j-1.4.0", "LangChain4j"),
  java("langchain4j 1.19.0", "langchain4j-new", "LangChain4j"),
  python("LiteLLM SDK 1.108.7", "litellm_sdk.py"),
  { ...python("LiteLLM proxy 1.108.7", "litellm_proxy.py"), isDirectOnly: true },
  node("@parley/client", "parley-client.mjs"),
  node("our reader, TypeScript", "reader.mjs"),
  python("our reader, Python", "reader.py"),
  { ...go("reader"), name: "our reader, Go" },
  java("our reader, Java", "openai-java", "Reader"),
  node("fetch of Node 24", "fetch.mjs"),
  node("fetch, the whole text", "fetch-text.mjs"),
  node("fetch, eventsource-parser", "pipes.mjs"),
  node("undici 8.12.4", "undici.mjs"),
  python("httpx 0.28.1", "httpx_client.py"),
  python("httpx with HTTP/2", "httpx_client.py", "--http2"),
  python("requests 2.34.2", "requests_client.py"),
  python("requests, the whole text", "requests_client.py", "--whole"),
  python("aiohttp 3.14.5", "aiohttp_client.py"),
  { name: "curl", folder: ".", command: ["sh", "curl.sh"] },
  { ...go("net/http"), name: "Go net/http" },
  java("Java HttpClient 17", "openai-java", "Jdk"),
];
