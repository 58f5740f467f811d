#!/bin/sh
# Run once by the PostgreSQL image: for each service a database and a role that may enter no other one, and a role that
# reads the server's statistics.
set -eu
for service in identity collaboration import package admin; do
  password=$(eval "printf %s \"\$PASSWORD_$(echo "$service" | tr a-z A-Z)\"")
  [ -n "$password" ] || { echo "there is no password for the role $service" >&2; exit 1; }
  psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --set=service="$service" --set=password="$password" <<-'SQL'
	create role :"service" login password :'password';
	create database :"service" owner :"service";
	revoke all on database :"service" from public;
SQL
done
[ -n "$PASSWORD_EXPORTER" ] || { echo "there is no password for the role exporter" >&2; exit 1; }
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --set=password="$PASSWORD_EXPORTER" <<-'SQL'
	create role exporter login password :'password' connection limit 3 in role pg_monitor;
SQL
