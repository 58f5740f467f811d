#!/bin/sh
# Makes the secrets of a local cluster, once: sh deploy/overlays/local/make-secrets.sh
# With the word `env`, prints them for Compose: sh deploy/overlays/local/make-secrets.sh env >.env
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
umask 077
services='identity collaboration import package admin'
random() { node -e "process.stdout.write(require('node:crypto').randomBytes($1).toString('$2'))"; }
keep() { [ -s "secrets/$1" ] || printf '%s' "$2" >"secrets/$1"; }
join() { printf '%s' "$2" >"secrets/$1"; }
kept() { cat "secrets/$1"; }
keep root-token "glpat-$(random 15 base64url)"
keep postgres-password "$(random 16 hex)"
keep exporter-database-password "$(random 16 hex)"
# A letter in front: nats-server takes what begins with a digit for a number.
keep operator-bus-password "p$(random 16 hex)"
for service in $services; do
  keep "$service-context-keys" "k1/$service:$(random 32 base64)"
  keep "$service-database-password" "$(random 16 hex)"
  keep "$service-owner-password" "$(random 16 hex)"
  keep "$service-bus-password" "p$(random 16 hex)"
  keep "$service-database-url" "postgres://$service:$(kept "$service-database-password")@postgres:5432/$service"
  keep "$service-owner-database-url" "postgres://${service}_owner:$(kept "$service-owner-password")@postgres:5432/$service"
  keep "$service-bus-url" "nats://$service:$(kept "$service-bus-password")@nats:4222"
done
join gateway-context-keys "$(for service in $services; do printf '%s,' "$(kept "$service-context-keys")"; done | sed 's/,$//')"
# Who asks whom, inside: a process has the keys that it presents or checks, and no other.
pairs='gateway-to-identity collaboration-to-identity import-to-identity package-to-identity admin-to-identity identity-to-collaboration import-to-collaboration package-to-collaboration identity-to-import identity-to-package import-to-package identity-to-admin collaboration-to-admin package-to-admin'
for pair in $pairs; do
  keep "$pair-key" "k1/${pair%-to-*}/${pair#*-to-}:$(random 32 base64)"
done
for process in gateway $services; do
  # Written each time, because a new release may have more pairs.
  join "$process-internal-keys" "$(cd secrets && for pair in $pairs; do
    case "$pair-" in "$process"-to-* | *-to-"$process"-) printf '%s,' "$(cat "$pair-key")" ;; esac
  done | sed 's/,$//')"
done
# All gateways seal the sign-in cookies of the web pages by it.
keep gateway-session-secret "$(random 32 base64url)"
# Sites of geo have it in common: a second site gets this file from the first.
keep geo-shared-secret "$(random 32 hex)"
# The bucket of Compose. Garage knows keys of this form only.
keep blobs-access-key "GK$(random 16 hex)"
keep blobs-secret-key "$(random 32 hex)"
keep blobs-cluster-secret "$(random 32 hex)"
if [ "${1:-}" = env ]; then
  echo "ROOKERY_ROOT_TOKEN=$(kept root-token)"
  echo "POSTGRES_PASSWORD=$(kept postgres-password)"
  echo "GEO_SHARED_SECRET=$(kept geo-shared-secret)"
  echo "NATS_PASSWORD_OPERATOR=$(kept operator-bus-password)"
  echo "CONTEXT_KEYS_GATEWAY=$(kept gateway-context-keys)"
  echo "INTERNAL_KEYS_GATEWAY=$(kept gateway-internal-keys)"
  echo "SESSION_SECRET_GATEWAY=$(kept gateway-session-secret)"
  echo "DATABASE_PASSWORD_EXPORTER=$(kept exporter-database-password)"
  echo "BLOBS_ACCESS_KEY=$(kept blobs-access-key)"
  echo "BLOBS_SECRET_KEY=$(kept blobs-secret-key)"
  echo "BLOBS_CLUSTER_SECRET=$(kept blobs-cluster-secret)"
  for service in $services; do
    name=$(echo "$service" | tr a-z A-Z)
    echo "CONTEXT_KEYS_$name=$(kept "$service-context-keys")"
    echo "INTERNAL_KEYS_$name=$(kept "$service-internal-keys")"
    echo "DATABASE_PASSWORD_$name=$(kept "$service-database-password")"
    echo "DATABASE_OWNER_PASSWORD_$name=$(kept "$service-owner-password")"
    echo "NATS_PASSWORD_$name=$(kept "$service-bus-password")"
  done
else
  echo "secrets are in $(pwd)/secrets; the administrator's token is in secrets/root-token"
fi
