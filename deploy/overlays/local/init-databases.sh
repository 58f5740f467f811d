#!/bin/sh
# Run once by the PostgreSQL image: for each service a database, a role that owns it and a role of the running service, which
# gets its rights from the owner by the role migrate. Both may enter no other database. A role reads the server's statistics.
set -eu
for service in identity collaboration import package admin; do
  name=$(echo "$service" | tr a-z A-Z)
  password=$(eval "printf %s \"\$PASSWORD_$name\"")
  owner_password=$(eval "printf %s \"\$OWNER_PASSWORD_$name\"")
  [ -n "$password" ] || { echo "there is no password for the role $service" >&2; exit 1; }
  [ -n "$owner_password" ] || { echo "there is no password for the role ${service}_owner" >&2; exit 1; }
  psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --set=service="$service" --set=password="$password" \
    --set=owner="${service}_owner" --set=owner_password="$owner_password" <<-'SQL'
	create role :"service" login password :'password';
	create role :"owner" login password :'owner_password';
	create database :"service" owner :"owner";
	revoke all on database :"service" from public;
SQL
done
[ -n "$PASSWORD_EXPORTER" ] || { echo "there is no password for the role exporter" >&2; exit 1; }
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --set=password="$PASSWORD_EXPORTER" <<-'SQL'
	create role exporter login password :'password' connection limit 3 in role pg_monitor;
SQL
