{{/* Fails with a sentence for each value that cannot be right. */}}
{{- define "parley.check" -}}
{{- $faults := list }}
{{- range list "Names" "Values" "Scaling" "Pod" "Settings" "Variables" "Secrets" }}
{{- $faults = concat $faults (include (printf "parley.faultsOf%s" .) $ | fromYamlArray) }}
{{- end }}
{{- if $faults }}{{ fail (printf "\n\n%s\n" (join "\n" $faults)) }}{{ end }}
{{- end }}

{{- define "parley.faultsOfNames" -}}
{{- $name := include "parley.name" . }}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" $name) }}
- "The release {{ .Release.Name }} would make the Service {{ $name }}, which Kubernetes refuses: choose a name of letters, digits and hyphens that begins with a letter."
{{- end }}
{{- with .Values.image }}
{{- if not .repository }}
- "image.repository is missing: build the image of deploy/server.Dockerfile, push it to your registry, and name it here, without tag."
{{- else if regexMatch ":[^/]*$" .repository }}
- "image.repository is {{ .repository }}, with a tag: put the tag into image.tag."
{{- else if not (regexMatch "^([A-Za-z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*$" .repository) }}
- "image.repository is {{ .repository }}, which no registry takes: use small letters, such as registry.example/parley."
{{- end }}
{{- if and (kindIs "string" .tag) (not .tag) (not .digest) }}
- "image.tag is empty: name a tag, leave it out to use that of the chart's version, or set image.digest."
{{- end }}
{{- end }}
{{- end }}

{{- define "parley.faultsOfValues" -}}
{{- $values := .Values }}
{{- if not (include "parley.isShared" .) }}
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
{{- if and $values.ingress.enabled (not $values.ingress.host) }}
- "ingress.host is missing."
{{- end }}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) }}
- "httpRoute.parentRefs is missing: name the Gateway, such as [{ name: public, namespace: gateways }]."
{{- end }}
{{- $ports := list 8080 (int $values.metrics.port) }}
{{- if $values.admin.enabled }}{{ $ports = append $ports (int $values.admin.port) }}{{ end }}
{{- if ne (len $ports) (len (uniq $ports)) }}
- "metrics.port and admin.port are two ports, and neither is 8080, where the server takes requests: choose others."
{{- end }}
{{- end }}

{{- define "parley.faultsOfScaling" -}}
{{- $values := .Values }}
{{- $minReplicas := $values.autoscaling.enabled | ternary $values.autoscaling.minReplicas $values.replicas }}
{{- with $values.autoscaling }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
- "autoscaling.minReplicas is {{ .minReplicas }}, which is more than autoscaling.maxReplicas, {{ .maxReplicas }}."
{{- end }}
{{- if and .enabled (not (or .cpuPercent .queueWaiting .slotsInUse)) }}
- "autoscaling has nothing to go by: set cpuPercent, queueWaiting or slotsInUse."
{{- end }}
{{- if and .enabled .cpuPercent (not (dig "requests" "cpu" "" $values.resources)) }}
- "autoscaling.cpuPercent is a share of resources.requests.cpu, which is missing: set it, or cpuPercent to null."
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
{{- if and (not (kindIs "invalid" .minAvailable)) (include "parley.isShared" $) }}
{{- $kept := int (trimSuffix "%" (toString .minAvailable)) }}
{{- /* Kubernetes rounds a share up. */}}
{{- if kindIs "string" .minAvailable }}{{ $kept = divf (mulf $kept $minReplicas) 100 | ceil | int }}{{ end }}
{{- if ge $kept (int $minReplicas) }}
- "disruptionBudget.minAvailable is {{ .minAvailable }} of {{ $minReplicas }} servers, so no node could ever be drained."
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Parts of a pod that the chart has itself, and parts without the other one that they need. */}}
{{- define "parley.faultsOfPod" -}}
{{- $volumes := list "data" "tmp" "config" }}
{{- range .Values.volumes }}
{{- if has .name $volumes }}
- "volumes has {{ .name }} twice, or the chart has a volume of this name: choose another one."
{{- end }}
{{- $volumes = append $volumes .name }}
{{- end }}
{{- $paths := list "/data" "/tmp" "/etc/parley" }}
{{- range .Values.volumeMounts }}
{{- if not (has .name (slice $volumes 3)) }}
- "volumeMounts names {{ .name }}, which volumes does not have."
{{- end }}
{{- $path := clean .mountPath }}
{{- if or (has $path $paths) (eq $path "/") }}
- "volumeMounts has the place {{ $path }} twice, or the server needs it itself: choose another mountPath."
{{- end }}
{{- $paths = append $paths $path }}
{{- end }}
{{- $owned := keys (include "parley.labels" . | fromYaml) }}
{{- range $label := keys .Values.podLabels | sortAlpha }}
{{- if has $label $owned }}
- "podLabels.{{ $label }} is set by the chart: leave it out."
{{- end }}
{{- end }}
{{- range $label := keys .Values.metrics.labels | sortAlpha }}
{{- if has $label (append $owned "grafana_dashboard") }}
- "metrics.labels.{{ $label }} is set by the chart: leave it out."
{{- end }}
{{- end }}
{{- if hasKey .Values.podAnnotations "checksum/config" }}
- "podAnnotations.checksum/config is set by the chart: leave it out."
{{- end }}
{{- end }}

{{- define "parley.faultsOfSettings" -}}
{{- $owned := dict "host" "" "port" "service.port" "data_dir" "storage" "metrics_host" "" "metrics_port" "metrics.port" "lame_duck_seconds" "lameDuckSeconds" "drain_seconds" "drainSeconds" "admin_host" "" "admin_port" "admin.enabled and admin.port" }}
{{- range $setting := keys .Values.config | sortAlpha }}
{{- if hasKey $owned $setting }}
{{- $value := index $owned $setting }}
- "config.{{ $setting }} is set by the chart{{ with $value }}: use {{ . }}{{ else }}: leave it out{{ end }}."
{{- end }}
{{- end }}
{{- end }}

{{- define "parley.faultsOfVariables" -}}
{{- $secrets := include "parley.secretVariables" . | fromYaml }}
{{- $settings := "^(PARLEY_.*|HOST|PORT|VENDOR|VENDOR_LABEL)$" }}
{{- range $variable := keys .Values.env | sortAlpha }}
{{- with index $secrets (trimSuffix "_FILE" $variable) }}
- "env.{{ $variable }} is a secret: put it into a Secret, and name that in secrets.{{ . }}."
{{- else }}
{{- if regexMatch $settings $variable }}
- "env.{{ $variable }} is a setting: write it under config, as in parley.yaml, where its name and value are checked."
{{- else if hasKey $.Values.secrets.others $variable }}
- "env.{{ $variable }} is in secrets.others, too: leave one of them out."
{{- end }}
{{- end }}
{{- end }}
{{- $models := dict }}
{{- range $name, $model := .Values.config.models }}
{{- with $model }}{{ with .remote }}{{ with .api_key_env }}{{ $_ := set $models . $name }}{{ end }}{{ end }}{{ end }}
{{- end }}
{{- range $variable := keys .Values.secrets.others | sortAlpha }}
{{- if hasKey $secrets $variable }}
- "secrets.others.{{ $variable }} has a place of its own: secrets.{{ index $secrets $variable }}."
{{- else if and (regexMatch $settings $variable) (not (hasKey $models $variable)) }}
- "secrets.others.{{ $variable }} would be read as a setting: write settings under config, and give a token another name."
{{- end }}
{{- end }}
{{- range $variable, $name := $models }}
{{- $known := or (hasKey $.Values.secrets.others $variable) (hasKey $.Values.env $variable) }}
{{- with index $secrets $variable }}{{ $known = (index $.Values.secrets .).name }}{{ end }}
{{- if not $known }}
- "config.models.{{ $name }} takes its token from the variable {{ $variable }}, which the pod does not have: name its Secret in secrets.{{ index $secrets $variable | default (printf "others.%s" $variable) }}."
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
{{- else if regexMatch "(^|\\s)$" (index $found.data $secret.key | b64dec) }}
- "{{ $place }}: the value of {{ $secret.key }} in the Secret {{ $secret.name }} is empty or ends with a line end or a blank. Write the file without it, such as with printf %s, and make the Secret again."
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.moveFrom }}
{{- if not (lookup "v1" "PersistentVolumeClaim" $.Release.Namespace .) }}
- "moveFrom names the claim {{ . }}, which is not in the namespace {{ $.Release.Namespace }}: kubectl --namespace {{ $.Release.Namespace }} get persistentvolumeclaims"
{{- end }}
{{- $name := include "parley.name" $ }}
{{- with lookup "apps/v1" "StatefulSet" $.Release.Namespace $name }}
{{- if .spec.replicas }}
- "moveFrom needs the volume of a server that has stopped: kubectl --namespace {{ $.Release.Namespace }} scale statefulset/{{ $name }} --replicas 0"
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
