# Schemathesis, which fuzzes a service by its URL. Built from the root of the repository:
#   docker build -f deploy/fuzzer.Dockerfile -t parley/fuzzer .
#   docker run --rm -e PARLEY_KEY parley/fuzzer https://host
# `ci/images.ts` pins the base, `fuzz/requirements.lock` the packages. Two builds give the same files.
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE}
COPY fuzz/requirements.lock /requirements.lock
# With these variables, bytecode has no times in it, and no bytecode is written beside the programs of the base.
RUN export SOURCE_DATE_EPOCH=0 PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 \
 && python3.11 -m venv /opt/schemathesis \
 && /opt/schemathesis/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --only-binary=:all: \
      --require-hashes --requirement /requirements.lock
COPY deploy/fuzz-url /opt/schemathesis/bin/
ENV PATH=/opt/schemathesis/bin:$PATH HOME=/tmp
USER 1000:1000
ENTRYPOINT ["fuzz-url"]
