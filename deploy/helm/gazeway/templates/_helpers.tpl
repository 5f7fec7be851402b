{{- define "gazeway.name" -}}
{{- if contains "gazeway" .Release.Name -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-gazeway" .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "gazeway.selector" -}}
app.kubernetes.io/name: gazeway
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gazeway.labels" -}}
{{ include "gazeway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "gazeway.image" -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end -}}
{{- end -}}

{{- define "gazeway.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "gazeway.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Image, user, variables and folders of the containers that run gazeway. More variables may follow it. */}}
{{- define "gazeway.container" -}}
image: {{ include "gazeway.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- include "gazeway.containerSecurity" . | nindent 2 }}
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
envFrom:
  - secretRef:
      name: {{ .Values.secretName }}
env:
  # It makes this folder for itself alone; others of the pod could read the volume.
  - name: GAZEWAY_HOME
    value: /data/gazeway
{{- end -}}
