/**
 * Tries everything that the client has to do in every runtime. It uses no global of a single runtime: it runs unchanged in
 * Node, Bun and Deno, and bundled in browsers and workers.
 */
export async function probe({ createParley, collect, hasCode }, baseURL, apiKey) {
  const options = { baseURL, apiKey, maxRetries: 0, dangerouslyAllowBrowser: true };
  const parley = createParley(options);
  const ask = (content) => ({ model: "vendor/model-1", messages: [{ role: "user", content }] });
  const models = await parley.models();
  const plain = await parley.create(ask("Hello"));
  const streamed = await collect(parley.stream(ask("Zürich 🜁 汉")));

  let pieces = 0;
  for await (const _ of parley.stream(ask("script:endless"))) {
    pieces += 1;
    if (pieces === 3) break;
  }

  const failure = async (call) => {
    const error = await call.then(
      () => "no error",
      (caught) => caught,
    );
    return error;
  };
  const refused = await failure(parley.model("vendor/none"));
  const cut = await failure(collect(parley.stream(ask("script:fail-late"))));
  const late = await failure(parley.create(ask("script:stall"), { timeoutMs: 200 }));
  const signal = AbortSignal.abort("enough");
  let isRefusedHere = false;
  try {
    createParley({ baseURL, apiKey });
  } catch (error) {
    isRefusedHere = error instanceof TypeError;
  }
  return {
    models: models.length,
    plain: plain.choices[0].message.content,
    streamed: streamed.choices[0].message.content,
    pieces,
    refused: hasCode(refused, "model_not_found") && refused.requestId.startsWith("req_"),
    cut: hasCode(cut, "upstream_error") && cut.chunks.length,
    late: hasCode(late, "client_timeout"),
    aborted: await failure(parley.create(ask("Hello"), { signal })),
    unreachable: (await failure(createParley({ ...options, baseURL: "http://127.0.0.1:9" }).models())).code,
    isRefusedHere,
  };
}
