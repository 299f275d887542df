{{/*
Gives each absent value its default: "helm upgrade --reuse-values" passes only the values that the chart before had. A bound,
a request or a limit that may be left out stays absent.
*/}}
{{- define "parley.fill" -}}
{{- include "parley.fillIn" (dict "values" .Values "defaults" (.Files.Get "files/values.yaml" | fromYaml) "place" "") }}
{{- end }}

{{- define "parley.fillIn" -}}
{{- range $name, $default := .defaults }}
{{- $place := printf "%s%s" $.place $name }}
{{- $value := index $.values $name }}
{{- if regexMatch "^(resources|disruptionBudget)[.]|^autoscaling[.]cpuPercent$" $place }}
{{- else if kindIs "invalid" $value }}
{{- $_ := set $.values $name $default }}
{{- else if kindIs "map" $default }}
{{- include "parley.fillIn" (dict "values" $value "defaults" $default "place" (printf "%s." $place)) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "parley.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" (.Release.Name | trunc 33 | trimSuffix "-") .Chart.Name }}{{ end }}
{{- end }}

{{- define "parley.selector" -}}
app.kubernetes.io/name: parley
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "parley.labels" -}}
{{ include "parley.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The families of addresses of a Service, if the values name some. */}}
{{- define "parley.families" -}}
{{- with .Values.service.ipFamilies -}}
ipFamilyPolicy: {{ gt (len .) 1 | ternary "RequireDualStack" "SingleStack" }}
ipFamilies: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "parley.image" -}}
{{- with .Values.image }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end }}
{{- end }}

{{/* "true" if several servers can share the state, otherwise empty. */}}
{{- define "parley.isShared" -}}
{{- if .Values.secrets.databaseUrl.name }}true{{ end }}
{{- end }}

{{/* The variables of secrets, and the values that name them, as YAML. */}}
{{- define "parley.secretVariables" -}}
PARLEY_API_KEY: apiKey
PARLEY_DATABASE_URL: databaseUrl
PARLEY_VALKEY_URL: valkeyUrl
PARLEY_UPSTREAM_API_KEY: upstreamApiKey
{{- end }}

{{/* Variables that the values give, as entries of a container. */}}
{{- define "parley.env" -}}
{{- range $variable, $member := include "parley.secretVariables" . | fromYaml }}
{{- with index $.Values.secrets $member }}
{{- if .name }}
- name: {{ $variable }}
  valueFrom: { secretKeyRef: { name: {{ .name | quote }}, key: {{ .key | quote }} } }
{{- end }}
{{- end }}
{{- end }}
{{- range $variable, $secret := .Values.secrets.others }}
- name: {{ $variable }}
  valueFrom: { secretKeyRef: { name: {{ $secret.name | quote }}, key: {{ $secret.key | quote }} } }
{{- end }}
{{- range $variable, $value := .Values.env }}
{{- /* A large number would be written with an exponent. */}}
- { name: {{ $variable }}, value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }} }
{{- end }}
{{- end }}

{{/* The part of a pod's spec that the server and the hook have in common. */}}
{{- define "parley.closedPod" -}}
automountServiceAccountToken: false
# Variables of a Service whose name begins with "parley" would look like settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "parley.closedContainer" -}}
image: {{ include "parley.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}
