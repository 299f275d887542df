# The server with the demonstration models, from the npm registry alone. Built from the root of the repository:
#   docker build -f deploy/server.Dockerfile -t parley/server .
# `ci/images.ts` pins the base; Dagger and the host runner pass it on. Two builds give the same files, except for the compile
# cache, which depends on a random seed of V8: `release compare-builds` shows it.
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS installed
WORKDIR /parley
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml .pnpmfile.cjs ./
COPY packages/common/package.json packages/common/
COPY packages/contract/package.json packages/contract/
COPY packages/inference/package.json packages/inference/
COPY packages/json-schema-grammar/package.json packages/json-schema-grammar/
COPY packages/partners/package.json packages/partners/
COPY packages/server/package.json packages/server/
COPY site/package.json site/
# The lock file also lists these folders. Their packages are not installed.
COPY packages/client/package.json packages/client/
COPY packages/conformance/package.json packages/conformance/
COPY generate/package.json generate/
COPY repository-tests/package.json repository-tests/
RUN npx -y pnpm@12.21.0 --filter parley --filter "@parley/server..." --filter "@parley/site..." install --prod --frozen-lockfile --reporter=append-only \
 # The base has Node, and pnpm notes the time of the installation.
 && rm -rf node_modules/.bin/node node_modules/node-linux-* node_modules/.pnpm/node-linux-* \
      node_modules/.modules.yaml node_modules/.pnpm-workspace-state-v1.json \
 # The bundle notes the time of its sources.
 && touch --date=2000-01-01 pnpm-lock.yaml

FROM ${BASE} AS files
WORKDIR /parley
COPY demo-models demo-models
COPY packages/common/src packages/common/src
COPY packages/contract/src packages/contract/src
COPY packages/inference/src packages/inference/src
COPY packages/json-schema-grammar/src packages/json-schema-grammar/src
COPY packages/server/src packages/server/src
COPY site/src site/src
# Removes tests, training, and local copies of the weights in a second form.
RUN find . \( -name "*.test.ts" -o -name "*.safetensors" \) -delete && rm -rf demo-models/corpus demo-models/training \
 && find . -exec touch --date=2000-01-01 {} +

FROM installed AS bundled
COPY --from=files /parley ./
# The sources of the docs portal.
COPY CHANGELOG.md ./
COPY docs docs
COPY generate/offered generate/offered
COPY openapi openapi
COPY packages/client/README.md packages/client/
COPY packages/partners packages/partners
RUN SOURCE_DATE_EPOCH=$(date --date=2000-01-02 +%s) node packages/server/src/bundle/main.ts && node site/src/main.ts

# Removes the bundler.
FROM installed AS packages
RUN find . \( -name "*rolldown*" -o -name "@oxc-project*" \) -prune -exec rm -rf {} +

FROM ${BASE}
WORKDIR /parley
COPY --from=packages /parley ./
COPY --from=files /parley ./
COPY --from=bundled /parley/packages/server/dist packages/server/dist
COPY --from=bundled /parley/site/dist site/dist
COPY deploy/parley deploy/
RUN install --directory --owner node /data node_modules/.cache && ln -s /parley/deploy/parley /usr/local/bin/
USER node
# Compiles the code once, for every start.
RUN parley --version
VOLUME /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 PARLEY_DATA_DIR=/data PARLEY_METRICS_PORT=off PARLEY_LAME_DUCK_SECONDS=5
EXPOSE 8080
# The server is healthy when it answers `/health`, even if it is busy.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node becomes the first process, so that SIGTERM reaches it and running requests end.
ENTRYPOINT ["parley"]
CMD ["start"]
