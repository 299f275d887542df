{{/* Fails with a sentence for each value that cannot be right. */}}
{{- define "parley.check" -}}
{{- $faults := concat (include "parley.faultsOfValues" . | fromYamlArray) (include "parley.faultsOfSettings" . | fromYamlArray) (include "parley.faultsOfSecrets" . | fromYamlArray) }}
{{- if $faults }}{{ fail (printf "\n\n%s\n" (join "\n" $faults)) }}{{ end }}
{{- end }}

{{- define "parley.faultsOfValues" -}}
{{- $shared := include "parley.isShared" . }}
{{- $values := .Values }}
{{- $minReplicas := $values.autoscaling.enabled | ternary $values.autoscaling.minReplicas $values.replicas }}
{{- with $values.image }}
{{- if not .repository }}
- "image.repository is missing: build the image of deploy/server.Dockerfile, push it to your registry, and name it here, without tag."
{{- end }}
{{- if and (kindIs "string" .tag) (not .tag) (not .digest) }}
- "image.tag is empty: name a tag, leave it out to use that of the chart's version, or set image.digest."
{{- end }}
{{- end }}
{{- if not $shared }}
{{- if gt (int $values.replicas) 1 }}
- "replicas is {{ $values.replicas }}, and several servers need shared state: set secrets.databaseUrl.name to a Secret with the address of PostgreSQL, or replicas to 1."
{{- end }}
{{- if $values.autoscaling.enabled }}
- "autoscaling needs shared state: set secrets.databaseUrl.name to a Secret with the address of PostgreSQL."
{{- end }}
{{- if $values.secrets.valkeyUrl.name }}
- "secrets.valkeyUrl needs secrets.databaseUrl: limits are shared only where keys and ledger are."
{{- end }}
{{- if $values.moveFrom }}
- "moveFrom needs secrets.databaseUrl: keys and ledger of that volume move to PostgreSQL."
{{- end }}
{{- end }}
{{- $needed := add $values.lameDuckSeconds $values.drainSeconds }}
{{- with $values.terminationGracePeriodSeconds }}
{{- if le (int .) (int $needed) }}
- "terminationGracePeriodSeconds is {{ . }}, and a server that is stopped takes up to lameDuckSeconds + drainSeconds = {{ $needed }} seconds: set at least {{ add $needed 5 }}, or leave it out."
{{- end }}
{{- end }}
{{- with $values.autoscaling }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
- "autoscaling.minReplicas is {{ .minReplicas }}, which is more than autoscaling.maxReplicas, {{ .maxReplicas }}."
{{- end }}
{{- if and .enabled (not (or .cpuPercent .queueWaiting .slotsInUse)) }}
- "autoscaling has nothing to go by: set cpuPercent, queueWaiting or slotsInUse."
{{- end }}
{{- if and .enabled .keda.enabled (or .queueWaiting .slotsInUse) (not .keda.prometheusUrl) }}
- "autoscaling.keda.prometheusUrl is missing: KEDA asks Prometheus there for the queue and the slots."
{{- end }}
{{- if and .keda.enabled (not .enabled) }}
- "autoscaling.keda.enabled has no effect while autoscaling.enabled is false."
{{- end }}
{{- end }}
{{- with $values.disruptionBudget }}
{{- if eq (kindIs "invalid" .minAvailable) (kindIs "invalid" .maxUnavailable) }}
- "disruptionBudget needs one of maxUnavailable and minAvailable, and null for the other one."
{{- end }}
{{- if and (kindIs "float64" .minAvailable) (ge (int .minAvailable) (int $minReplicas)) $shared }}
- "disruptionBudget.minAvailable is {{ .minAvailable }} of {{ $minReplicas }} servers, so no node could ever be drained."
{{- end }}
{{- end }}
{{- if and $values.ingress.enabled (not $values.ingress.host) }}
- "ingress.host is missing."
{{- end }}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) }}
- "httpRoute.parentRefs is missing: name the Gateway, such as [{ name: public, namespace: gateways }]."
{{- end }}
{{- end }}

{{- define "parley.faultsOfSettings" -}}
{{- $owned := dict "host" "" "port" "service.port" "data_dir" "storage" "metrics_host" "" "metrics_port" "metrics.port" "lame_duck_seconds" "lameDuckSeconds" "drain_seconds" "drainSeconds" }}
{{- range $setting := keys .Values.config | sortAlpha }}
{{- if hasKey $owned $setting }}
{{- $value := index $owned $setting }}
- "config.{{ $setting }} is set by the chart{{ with $value }}: use {{ . }}{{ else }}: leave it out{{ end }}."
{{- end }}
{{- end }}
{{- $secrets := include "parley.secretVariables" . | fromYaml }}
{{- range $variable := keys .Values.env | sortAlpha }}
{{- if hasKey $secrets $variable }}
- "env.{{ $variable }} is a secret: put it into a Secret, and name that in secrets.{{ index $secrets $variable }}."
{{- else if regexMatch "^(PARLEY_.*|HOST|PORT|VENDOR|VENDOR_LABEL)$" $variable }}
- "env.{{ $variable }} is a setting: write it under config, as in parley.yaml, where its name and value are checked."
{{- end }}
{{- end }}
{{- end }}

{{/* The Secrets that do not exist, or lack the key. `helm template` has no cluster and finds no namespace. */}}
{{- define "parley.faultsOfSecrets" -}}
{{- range $variable, $secret := .Values.secrets.others }}
{{- if not $secret.name }}
- "secrets.others.{{ $variable }}.name is missing: name the Secret with this token."
{{- end }}
{{- end }}
{{- if .Values.checkSecrets }}
{{- if lookup "v1" "Namespace" "" .Release.Namespace }}
{{- $all := dict }}
{{- range $variable, $member := include "parley.secretVariables" . | fromYaml }}
{{- $_ := set $all (printf "secrets.%s" $member) (index $.Values.secrets $member) }}
{{- end }}
{{- range $variable, $secret := .Values.secrets.others }}
{{- $_ := set $all (printf "secrets.others.%s" $variable) $secret }}
{{- end }}
{{- range $place, $secret := $all }}
{{- if $secret.name }}
{{- $found := lookup "v1" "Secret" $.Release.Namespace $secret.name }}
{{- if not $found }}
- "{{ $place }} names the Secret {{ $secret.name }}, which is not in the namespace {{ $.Release.Namespace }}: kubectl --namespace {{ $.Release.Namespace }} create secret generic {{ $secret.name }} --from-file={{ $secret.key }}=FILE"
{{- else if not (hasKey ($found.data | default dict) $secret.key) }}
- "{{ $place }} names the key {{ $secret.key }}, which the Secret {{ $secret.name }} does not have. It has: {{ keys ($found.data | default dict) | sortAlpha | join ", " }}."
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
