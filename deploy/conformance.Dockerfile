# The conformance suite, which judges a service by its URL. Built from the root of the repository:
#   docker build -f deploy/conformance.Dockerfile -t parley/conformance .
#   docker run --rm -e API_KEY parley/conformance run --base-url https://host/v1 --profile openai
# `ci/images.ts` pins the base.
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS built
WORKDIR /parley
# The lock file lists all of these folders. A build after a change of the sources installs nothing again.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml .pnpmfile.cjs tsconfig.json ./
COPY packages/client/package.json packages/client/
COPY packages/common/package.json packages/common/
COPY packages/conformance/package.json packages/conformance/
COPY packages/contract/package.json packages/contract/
COPY packages/inference/package.json packages/inference/
COPY packages/json-schema-grammar/package.json packages/json-schema-grammar/
COPY packages/partners/package.json packages/partners/
COPY packages/server/package.json packages/server/
COPY generate/package.json generate/
COPY repository-tests/package.json repository-tests/
COPY site/package.json site/
RUN npx -y pnpm@12.21.0 --filter parley --filter "@parley/conformance..." install --frozen-lockfile --reporter=append-only
COPY packages/contract packages/contract
COPY packages/conformance packages/conformance
RUN npx -y pnpm@12.21.0 --filter @parley/conformance build \
 && npx -y pnpm@12.21.0 --filter @parley/conformance deploy --prod --legacy /conformance \
 # It has the time of the installation.
 && rm /conformance/node_modules/.modules.yaml

FROM ${BASE}
COPY --from=built /conformance/dist /conformance/dist
COPY --from=built /conformance/node_modules /conformance/node_modules
COPY --from=built /conformance/requirements /conformance/requirements
COPY --from=built /conformance/package.json /conformance/*.schema.json /conformance/
# Reports are written here. Mount a folder of the host, and run as its owner: --user "$(id -u)" -v "$PWD:/work"
WORKDIR /work
USER node
ENTRYPOINT ["node", "/conformance/dist/cli/main.js"]
CMD ["--help"]
