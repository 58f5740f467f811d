#!/bin/sh
# Makes the secrets of a local cluster, once: sh deploy/overlays/local/make-secrets.sh
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
umask 077
random() { node -e "process.stdout.write(require('node:crypto').randomBytes($1).toString('$2'))"; }
keep() { [ -s "secrets/$1" ] || printf '%s' "$2" >"secrets/$1"; }
keep internal-secret "$(random 32 hex)"
keep context-keys "k1:$(random 32 base64)"
keep root-token "glpat-$(random 15 base64url)"
keep postgres-password "$(random 16 hex)"
for service in identity collaboration import package admin; do
  keep "$service-database-url" "postgres://$service:$(cat secrets/postgres-password)@postgres:5432/$service"
done
echo "secrets are in $(pwd)/secrets; the administrator's token is in secrets/root-token"
