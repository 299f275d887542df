import { readdirSync } from "node:fs";
import { join } from "node:path";
import { chart, image } from "./tools.ts";
import type { Values } from "./tools.ts";

/** The values files of the chart for services in front of engines, by their names. */
export const frontFiles: readonly string[] = readdirSync(join(chart, "fronts")).toSorted();

export const fileOf = (name: string): string => join(chart, "fronts", name);

const shared: Values = {
  ...image,
  replicas: 3,
  "secrets.databaseUrl": { name: "database", key: "uri" },
  "secrets.valkeyUrl.name": "valkey",
};

/** Every way to install the chart, by name. */
export const modes: Readonly<Record<string, Values>> = {
  "one server": image,
  "one server with everything": {
    ...image,
    "image.digest": `sha256:${"0".repeat(64)}`,
    "image.pullSecrets": ["registry"],
    "secrets.apiKey.name": "first-key",
    "secrets.others": { AUDIT_KEY: { name: "audit", key: "token" } },
    config: { queue_length: 32, models: { "model-1": { slots: 8 } } },
    env: { NODE_EXTRA_CA_CERTS: "/certificates/ca.pem" },
    volumes: [{ name: "certificates", configMap: { name: "certificates" } }],
    volumeMounts: [{ name: "certificates", mountPath: "/certificates", readOnly: true }],
    "storage.className": "fast",
    "service.type": "LoadBalancer",
    "service.ipFamilies": ["IPv4"],
    admin: { enabled: true, callers: [{ ipBlock: { cidr: "10.0.0.0/8" } }] },
    ingress: {
      enabled: true,
      className: "nginx",
      host: "llm.example",
      tlsSecret: "certificate",
      annotations: { a: "b" },
    },
    httpRoute: { enabled: true, parentRefs: [{ name: "public" }], hostnames: ["llm.example"] },
    metrics: {
      namespace: "monitoring",
      serviceMonitor: true,
      alerts: true,
      board: true,
      labels: { release: "prometheus" },
    },
    networkPolicy: { callers: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress" } } }] },
    nodeSelector: { disk: "fast" },
    tolerations: [{ key: "dedicated", operator: "Exists" }],
    priorityClassName: "important",
    affinity: { nodeAffinity: {} },
    podLabels: { team: "a" },
  },
  "several servers": shared,
  "several servers with an autoscaler": {
    ...shared,
    autoscaling: { enabled: true, queueWaiting: 4, slotsInUse: 48 },
    disruptionBudget: { minAvailable: "50%", maxUnavailable: null },
  },
  "several servers with KEDA": {
    ...shared,
    autoscaling: {
      enabled: true,
      queueWaiting: 4,
      slotsInUse: 48,
      keda: { enabled: true, prometheusUrl: "http://prometheus:9090" },
    },
  },
  "several servers that take over a volume": { ...shared, moveFrom: "data-parley-0" },
};
