{{/* The settings file: what the chart sets, under what the user sets. */}}
{{- define "assay.settings" -}}
{{- $address := .Values.mode | eq "shared" | ternary "0.0.0.0" "127.0.0.1" -}}
{{- $open := or (eq .Values.mode "shared") .Values.metrics.sidecar -}}
{{- $service := dict "listen" (printf "%s:%d" $address (int .Values.ports.service)) -}}
{{- $admin := dict "listen" (printf "%s:%d" ($open | ternary "0.0.0.0" "127.0.0.1") (int .Values.ports.admin)) -}}
{{- $ours := dict "service" $service "admin" $admin "cache_directory" "/var/lib/assay" -}}
{{- /* No key has this digest: metrics and probes need none, all else on the admin listener is refused. */ -}}
{{- $nobodys := list (repeat 64 "0") -}}
{{- if eq .Values.mode "shared" -}}
{{- /* Until no node sends requests to the pod any more. */ -}}
{{- $_ := set $ours "shutdown_delay" "5s" -}}
{{- if .Values.tls.secretName -}}
{{- $_ := set $service "tls" (dict "certificate_file" "/etc/assay-tls/tls.crt" "key_file" "/etc/assay-tls/tls.key" "client_ca_file" "/etc/assay-tls/ca.crt") -}}
{{- $_ := set $admin "api_keys" $nobodys -}}
{{- else if not .Values.settings.api_keys -}}
{{- fail "a shared service needs settings.api_keys, the digests of its callers' keys (`assay api-key` creates a key and its digest), or tls.secretName" -}}
{{- end -}}
{{- else -}}
{{- /* A backend needs few connections to its sidecar. */ -}}
{{- $_ := set $ours "limits" (dict "max_connections" 1000) -}}
{{- if .Values.metrics.sidecar -}}
{{- $_ := set $admin "api_keys" $nobodys -}}
{{- end -}}
{{- end -}}
{{- toYaml (mergeOverwrite $ours (deepCopy .Values.settings)) -}}
{{- end -}}
