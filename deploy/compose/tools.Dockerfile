# The proxy and Prometheus of compose.yaml, from Debian's packages on the base of the server.
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS caddy
RUN apt-get update && apt-get install -y --no-install-recommends caddy ca-certificates && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner 1000 --group 1000 /caddy
ENV XDG_DATA_HOME=/caddy XDG_CONFIG_HOME=/caddy
VOLUME /caddy
EXPOSE 443
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "require('node:net').connect(443, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(1))"]
CMD ["caddy", "run", "--adapter", "caddyfile", "--config", "/etc/caddy/Caddyfile"]

FROM ${BASE} AS prometheus
RUN apt-get update && apt-get install -y --no-install-recommends prometheus && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner 1000 --group 1000 /prometheus
VOLUME /prometheus
EXPOSE 9090
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9090/-/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus", "--web.console.templates=/usr/share/prometheus/consoles"]
