#!/bin/sh
# Run once by the PostgreSQL image: a database and a role for each service that owns one.
set -eu
for service in identity collaboration import package admin; do
  psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" \
    --set=service="$service" --set=password="$SERVICE_PASSWORD" <<-'SQL'
	create role :"service" login password :'password';
	create database :"service" owner :"service";
SQL
done
