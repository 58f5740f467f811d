/**
 * The limit: one bare Fastify + pg process (8 connections, named prepared statements, tokens in a map, response
 * schemas) that answers the same JSON from the same tables in the same PostgreSQL. It is a floor, not a product.
 *
 *   node tools/bench/limit.mjs   with LIMIT_DATABASE_URL, LIMIT_TOKENS (JSON: token -> [id, username]), LIMIT_BASE
 */
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';

const tokens = new Map(Object.entries(JSON.parse(process.env.LIMIT_TOKENS)));
const base = process.env.LIMIT_BASE;
const pool = new pg.Pool({ connectionString: process.env.LIMIT_DATABASE_URL, max: 8 });
const app = Fastify();
const named = (name, text, values) => pool.query({ name, text, values });

const string = { type: 'string' };
const maybe = { type: ['string', 'null'] };
const integer = { type: 'integer' };
const boolean = { type: 'boolean' };
const user = {
  type: 'object',
  properties: {
    id: integer,
    username: string,
    public_email: maybe,
    name: string,
    state: string,
    locked: boolean,
    avatar_url: maybe,
    web_url: string,
    email: maybe,
    created_at: string,
  },
};
const note = {
  type: 'object',
  properties: {
    id: integer,
    type: maybe,
    body: string,
    attachment: maybe,
    author: user,
    created_at: string,
    updated_at: string,
    system: boolean,
    noteable_id: integer,
    noteable_type: string,
    project_id: integer,
    noteable_iid: integer,
    resolvable: boolean,
    confidential: boolean,
    internal: boolean,
    imported: boolean,
    imported_from: string,
    commands_changes: { type: 'object', properties: {} },
  },
};
const issue = {
  type: 'object',
  properties: {
    id: integer,
    iid: integer,
    project_id: integer,
    title: string,
    description: maybe,
    state: string,
    created_at: string,
    updated_at: string,
    closed_at: maybe,
    author: user,
    user_notes_count: integer,
    confidential: boolean,
    issue_type: string,
    web_url: string,
    references: { type: 'object', properties: { short: string, relative: string, full: string } },
  },
};
const todo = {
  type: 'object',
  properties: {
    id: integer,
    project: {
      type: 'object',
      properties: { id: integer, name: string, name_with_namespace: string, path: string, path_with_namespace: string },
    },
    author: user,
    action_name: string,
    target_type: string,
    target: issue,
    target_url: string,
    body: string,
    state: string,
    created_at: string,
    updated_at: string,
  },
};
const list = (items) => ({ 200: { type: 'array', items } });

const author = (row, prefix = 'a_') => ({
  id: Number(row[`${prefix}id`]),
  username: row[`${prefix}username`],
  public_email: row[`${prefix}email`],
  name: row[`${prefix}name`],
  state: row[`${prefix}state`],
  locked: false,
  avatar_url: row[`${prefix}avatar`],
  web_url: `${base}/${row[`${prefix}username`]}`,
  email: row[`${prefix}email`],
  created_at: row[`${prefix}since`],
});
const AUTHOR = (alias, prefix) =>
  `${alias}.id as ${prefix}id, ${alias}.username as ${prefix}username, ${alias}.public_email as ${prefix}email, ${alias}.name as ${prefix}name,
   ${alias}.state as ${prefix}state, ${alias}.avatar_url as ${prefix}avatar, ${alias}.created_at as ${prefix}since`;
const noteOf = (row) => ({
  id: Number(row.id),
  type: null,
  body: row.body,
  attachment: null,
  author: author(row),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  system: row.system,
  noteable_id: Number(row.noteable_id),
  noteable_type: 'Issue',
  project_id: Number(row.project_id),
  noteable_iid: Number(row.iid),
  resolvable: false,
  confidential: row.internal,
  internal: row.internal,
  imported: false,
  imported_from: row.imported_from,
  commands_changes: {},
});

app.addHook('onRequest', async (request, reply) => {
  request.user = tokens.get(request.headers['private-token']);
  if (!request.user) return reply.code(401).send({ message: '401 Unauthorized' });
});
const NOTE = `n.id, n.body, n.created_at, n.updated_at, n.system, n.noteable_id, n.project_id, n.internal, n.imported_from, ${AUTHOR('a', 'a_')}`;

app.get('/api/v4/projects/:id/issues/:iid/notes', { schema: { response: list(note) } }, async (request, reply) => {
  const { rows } = await named(
    'r1',
    `select ${NOTE}, i.iid, i.public_notes_count as total from issues i
     join lateral (select * from notes where noteable_id = i.id and noteable_type = 'Issue' order by created_at desc, id desc limit 20) n on true
     join directory_users a on a.id = n.author_id where i.project_id = $1 and i.iid = $2 order by n.created_at desc, n.id desc`,
    [request.params.id, request.params.iid],
  );
  reply.header('x-total', rows[0]?.total ?? 0);
  return rows.map(noteOf);
});
app.get('/api/v4/projects/:id/issues/:iid/notes/:note', { schema: { response: { 200: note } } }, async (request) => {
  const { rows } = await named(
    'r2',
    `select ${NOTE}, i.iid from issues i join notes n on n.noteable_id = i.id and n.noteable_type = 'Issue'
     join directory_users a on a.id = n.author_id where i.project_id = $1 and i.iid = $2 and n.id = $3`,
    [request.params.id, request.params.iid, request.params.note],
  );
  return noteOf(rows[0]);
});
app.get('/api/v4/todos', { schema: { response: list(todo) } }, async (request) => {
  const { rows } = await named(
    'r3',
    `select t.id, t.action, t.state, t.created_at, t.updated_at, p.id as p_id, p.name as p_name, p.path as p_path,
       s.full_name, s.full_path, ${AUTHOR('a', 'a_')}, i.id as i_id, i.iid, i.title, i.description, i.state as i_state,
       i.created_at as i_created, i.updated_at as i_updated, i.public_notes_count, i.confidential, i.issue_type,
       ${AUTHOR('b', 'b_')}, n.body, n.id as note_id
     from (select * from todos where user_id = $1 and state = 'pending' order by id desc limit 20) t
     join directory_projects p on p.id = t.project_id join directory_namespaces s on s.id = p.namespace_id
     join directory_users a on a.id = t.author_id join issues i on i.id = t.target_id
     join directory_users b on b.id = i.author_id left join notes n on n.id = t.note_id order by t.id desc`,
    [request.user[0]],
  );
  return rows.map((row) => {
    const path = `${row.full_path}/${row.p_path}`;
    const web = `${base}/${path}/-/issues/${row.iid}`;
    return {
      id: Number(row.id),
      project: {
        id: Number(row.p_id),
        name: row.p_name,
        name_with_namespace: `${row.full_name} / ${row.p_name}`,
        path: row.p_path,
        path_with_namespace: path,
      },
      author: author(row),
      action_name: row.action,
      target_type: 'Issue',
      target: {
        id: Number(row.i_id),
        iid: Number(row.iid),
        project_id: Number(row.p_id),
        title: row.title,
        description: row.description,
        state: row.i_state,
        created_at: row.i_created.toISOString(),
        updated_at: row.i_updated.toISOString(),
        closed_at: null,
        author: author(row, 'b_'),
        user_notes_count: row.public_notes_count,
        confidential: row.confidential,
        issue_type: row.issue_type,
        web_url: web,
        references: { short: `#${row.iid}`, relative: `#${row.iid}`, full: `${path}#${row.iid}` },
      },
      target_url: `${web}#note_${row.note_id}`,
      body: row.body,
      state: row.state,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    };
  });
});
app.post('/api/v4/projects/:id/issues/:iid/notes', { schema: { response: { 201: note } } }, async (request, reply) => {
  const { rows } = await named(
    'w1',
    `with i as (update issues set public_notes_count = public_notes_count + 1, updated_at = now()
       where project_id = $1 and iid = $2 returning id, iid),
     n as (insert into notes (noteable_type, noteable_id, project_id, author_id, body) select 'Issue', i.id, $1, $3, $4 from i returning *),
     m as (select id from directory_users where lower(username) = $5),
     t as (insert into todos (user_id, author_id, action, project_id, target_type, target_id, note_id, source_event_id, created_at, updated_at)
       select m.id, $3, 'mentioned', $1, 'Issue', n.noteable_id, n.id, $6, now(), now() from m, n),
     o as (insert into bench_outbox (payload) select jsonb_build_object('note_id', n.id) from n)
     select ${NOTE}, i.iid from n cross join i join directory_users a on a.id = n.author_id`,
    [
      request.params.id,
      request.params.iid,
      request.user[0],
      request.body.body,
      /@([\w.-]+)/.exec(request.body.body)?.[1],
      randomUUID(),
    ],
  );
  reply.code(201);
  return noteOf(rows[0]);
});

await pool.query(
  'create table if not exists bench_outbox (id bigint generated always as identity primary key, payload jsonb not null)',
);
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
process.send?.({ type: 'ready' });
process.on('disconnect', () => process.exit());
