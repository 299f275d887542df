# The conformance suite, which judges a service by its URL. Built from the root of the repository:
#   docker build -f deploy/conformance.Dockerfile -t parley/conformance .
#   docker run --rm -e API_KEY parley/conformance run --base-url https://host/v1 --profile openai
# `ci/images.ts` pins the base.
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS built
WORKDIR /parley
COPY . ./
RUN npx -y pnpm@12.21.0 --filter parley --filter "@parley/conformance..." install --frozen-lockfile --reporter=append-only \
 && npx -y pnpm@12.21.0 --filter @parley/conformance build \
 && npx -y pnpm@12.21.0 --filter @parley/conformance deploy --prod --legacy /conformance \
 # It has the time of the installation.
 && rm /conformance/node_modules/.modules.yaml

FROM ${BASE}
COPY --from=built /conformance/dist /conformance/dist
COPY --from=built /conformance/node_modules /conformance/node_modules
COPY --from=built /conformance/package.json /conformance/
# Reports are written here. Mount a folder of the host, and run as its owner: --user "$(id -u)" -v "$PWD:/work"
WORKDIR /work
USER node
ENTRYPOINT ["node", "/conformance/dist/cli/main.js"]
CMD ["--help"]
