{{/*
A list with Assay's container as a native sidecar. In the pod of a parent chart that has this one as the dependency `assay`:

  initContainers:
    {{- include "assay.sidecar" .Subcharts.assay | nindent 8 }}
  volumes:
    {{- include "assay.volumes" .Subcharts.assay | nindent 8 }}
*/}}
{{- define "assay.sidecar" -}}
{{- if ne .Values.mode "sidecar" -}}
{{- fail "set mode: sidecar in the values of the chart assay: its settings are then made for a pod's loopback" -}}
{{- end -}}
- name: assay
  {{- include "assay.container" . | nindent 2 }}
  # A native sidecar starts before the other containers and stops after them, so it needs no preStop hook.
  restartPolicy: Always
  {{- if .Values.metrics.sidecar }}
  ports:
    - { name: assay-admin, containerPort: {{ .Values.ports.admin }} }
  {{- end }}
  # The pod's user may be another one.
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    seccompProfile: { type: RuntimeDefault }
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities: { drop: [ALL] }
  resources:
    {{- /* 20m are about 500 sign-ins a second. 48Mi are its memory when idle with a full cache. One core gives one event loop, which
           can't use more CPU. 128Mi are enough for 1,000 connections, 17 MiB of requests and half as much of unread responses. */}}
    {{- $usual := dict "requests" (dict "cpu" "20m" "memory" "48Mi") "limits" (dict "cpu" "1" "memory" "128Mi") }}
    {{- toYaml (.Values.resources | default $usual) | nindent 4 }}
  # The kubelet can't reach the pod's loopback, so probes run in the container. They call the admin listener, because the backend
  # can't use up its connections. The pod's other containers start once Assay listens, whether or not a provider can be reached.
  startupProbe:
    exec: { command: [/usr/local/bin/assay, healthcheck] }
    periodSeconds: 1
    timeoutSeconds: 5
    failureThreshold: 30
  livenessProbe:
    exec: { command: [/usr/local/bin/assay, healthcheck] }
    periodSeconds: 20
    timeoutSeconds: 5
    failureThreshold: 3
  # Part of the pod's readiness: if the settings yield no keys, a rollout stops at its first pod.
  readinessProbe:
    exec: { command: [/usr/local/bin/assay, healthcheck, --ready] }
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 3
{{- end -}}

{{/* What Assay's container has in both modes. */}}
{{- define "assay.container" -}}
image: {{ include "assay.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- with .Values.env }}
env:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  # The whole directory: pods don't see changes of a ConfigMap mounted with `subPath`.
  - { name: assay-settings, mountPath: /etc/assay, readOnly: true }
  - { name: assay-secrets, mountPath: /etc/assay-secrets, readOnly: true }
  - { name: assay-keys, mountPath: /var/lib/assay }
  {{- if and (eq .Values.mode "shared") .Values.tls.secretName }}
  - { name: assay-tls, mountPath: /etc/assay-tls, readOnly: true }
  {{- end }}
  {{- with .Values.volumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* A list with the volumes of Assay's container. */}}
{{- define "assay.volumes" -}}
- name: assay-settings
  configMap: { name: {{ include "assay.configMap" . }} }
# Files that the settings name. The pod's fsGroup, whichever it is, lets Assay read them.
- name: assay-secrets
  secret: { secretName: {{ .Values.secretName }}, optional: true, defaultMode: 0440 }
# Keys survive a restart of the container, but not of the pod.
- name: assay-keys
  emptyDir: { sizeLimit: 64Mi }
{{- end -}}
