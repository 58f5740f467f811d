import type { MigrationInterface, QueryRunner } from 'typeorm';
import { groupAccessLevelSql, projectAccessLevelSql } from '../sql/level-sql';

/**
 * The service's read-only copy of identity's directory. Columns follow contracts' directory-log.
 * Source: docs/architecture.md 4.
 */
export class CreateDirectory1767225510000 implements MigrationInterface {
  name = 'CreateDirectory1767225510000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...TABLES, ...INDEXES, ...FUNCTIONS]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function directory_project_level, directory_group_level');
    await runner.query(
      'drop table directory_shares, directory_memberships, directory_projects, directory_namespaces, directory_users, directory_state',
    );
  }
}

// No unique keys but the ids and no foreign keys: inside one version rows may pass through states that break them
// (two groups swap their paths), and identity has checked them already.
const TABLES = [
  `create table directory_state (
    id boolean not null default true,
    epoch text not null default '',
    version bigint not null default 0,
    refreshed_at timestamptz(3) not null default '-infinity',
    constraint pk_directory_state primary key (id),
    constraint ck_directory_state_single check (id)
  ) with (fillfactor = 50)`,
  `insert into directory_state default values`,
  `create table directory_users (
    id bigint not null,
    username text not null,
    name text not null,
    state text not null,
    kind text not null,
    admin boolean not null,
    external boolean not null,
    private_profile boolean not null,
    avatar_url text,
    public_email text,
    notification_email text,
    created_at timestamptz(3) not null,
    constraint pk_directory_users primary key (id)
  )`,
  `create table directory_namespaces (
    id bigint not null,
    kind text not null,
    owner_id bigint,
    parent_id bigint,
    traversal_ids bigint[] not null,
    name text not null,
    path text not null,
    full_name text not null,
    full_path text not null,
    visibility text not null,
    avatar_url text,
    emails_enabled boolean not null,
    plan text not null,
    created_at timestamptz(3) not null,
    constraint pk_directory_namespaces primary key (id)
  )`,
  `create table directory_projects (
    id bigint not null,
    namespace_id bigint not null,
    creator_id bigint,
    name text not null,
    path text not null,
    description text,
    visibility text not null,
    archived boolean not null,
    issues_access_level text not null,
    snippets_access_level text not null,
    merge_requests_access_level text not null,
    packages_enabled boolean not null,
    emails_enabled boolean not null,
    default_branch text,
    avatar_url text,
    created_at timestamptz(3) not null,
    constraint pk_directory_projects primary key (id)
  )`,
  `create table directory_memberships (
    id bigint not null,
    user_id bigint not null,
    source_type text not null,
    source_id bigint not null,
    access_level smallint not null,
    expires_on date,
    constraint pk_directory_memberships primary key (id)
  )`,
  `create table directory_shares (
    id bigint not null,
    source_type text not null,
    source_id bigint not null,
    group_id bigint not null,
    access_level smallint not null,
    expires_on date,
    constraint pk_directory_shares primary key (id)
  )`,
];

const INDEXES = [
  'create index ix_directory_users_username on directory_users (lower(username))',
  'create index ix_directory_namespaces_full_path on directory_namespaces (lower(full_path))',
  // Arrays compare element by element, so everything below a group is one range of this index.
  'create index ix_directory_namespaces_traversal_ids on directory_namespaces (traversal_ids)',
  'create index ix_directory_projects_namespace_path on directory_projects (namespace_id, lower(path))',
  `create index ix_directory_memberships_user_source on directory_memberships (user_id, source_type, source_id)
     include (access_level, expires_on)`,
  'create index ix_directory_memberships_source on directory_memberships (source_type, source_id)',
  'create index ix_directory_shares_source on directory_shares (source_type, source_id)',
  'create index ix_directory_shares_group on directory_shares (group_id)',
];

// plpgsql keeps the plan for the session; a plain SQL function that cannot be inlined is planned in every statement.
const FUNCTIONS = [
  `create function directory_project_level(of_project bigint, of_user bigint) returns integer
   language plpgsql stable parallel safe as $$
   begin
     return coalesce((
       select ${projectAccessLevelSql({ user: 'u.id', project: 'p.id', namespace: 'n' })}
       from directory_users u, directory_projects p join directory_namespaces n on n.id = p.namespace_id
       where u.id = of_user and u.state = 'active' and p.id = of_project
     ), 0);
   end $$`,
  `create function directory_group_level(of_namespace bigint, of_user bigint) returns integer
   language plpgsql stable parallel safe as $$
   begin
     return coalesce((
       select ${groupAccessLevelSql({ user: 'u.id', namespace: 'n' })}
       from directory_users u, directory_namespaces n
       where u.id = of_user and u.state = 'active' and n.id = of_namespace
     ), 0);
   end $$`,
];
