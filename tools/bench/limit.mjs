/**
 * The limit: one bare Fastify + pg process (8 connections, named prepared statements, tokens in a map, response
 * schemas) that answers the same JSON from the same tables in the same PostgreSQL, and sends the e-mail of a note through
 * the product's own SMTP client. It does not authorize, validate or retry: a lower bound, not a product. The benchmark
 * compares its answers with those of the product before it measures (docs/performance.md 1).
 *
 *   node tools/bench/limit.mjs   with LIMIT_DATABASE_URL, LIMIT_TOKENS (JSON: token -> [id, username]), LIMIT_BASE,
 *                                LIMIT_SMTP_URL
 *
 * @import { FastifyRequest } from 'fastify'
 * @import { Row } from './limit-issue.mjs'
 * @typedef {[id: number, username: string]} User
 * @typedef {{ Params: Record<string, string>, Body: { body: string } }} Note
 */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import Fastify from 'fastify';
import pg from 'pg';
import { issueOf, createIssueSchema, ISSUE_COLUMNS, ISSUE_JOINS } from './limit-issue.mjs';

const { SmtpClient } = createRequire(import.meta.url)(
  '../../apps/collaboration/dist/following/notifications/mailer/smtp-client.js',
);
/** @type {Map<unknown, User>} */
const tokens = new Map(Object.entries(JSON.parse(process.env['LIMIT_TOKENS'] ?? '{}')));
const base = process.env['LIMIT_BASE'] ?? '';
const { hostname } = new URL(base);
const smtp = new SmtpClient({ smtpUrl: process.env['LIMIT_SMTP_URL'], connections: 5, timeoutMs: 30_000 });
const pool = new pg.Pool({ connectionString: process.env['LIMIT_DATABASE_URL'], max: 8 });
const app = Fastify();
/** Users by request. @type {WeakMap<FastifyRequest<any>, User>} */
const users = new WeakMap();
/** @param {FastifyRequest<any>} request */
const userIdOf = (request) => users.get(request)?.[0] ?? 0;
/** @type {(name: string, text: string, values: unknown[]) => Promise<pg.QueryResult<any>>} */
const runNamedStatement = (name, text, values) => pool.query({ name, text, values });

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
  },
};
const noteAuthor = { type: 'object', properties: { ...user.properties, email: maybe, created_at: string } };
const note = {
  type: 'object',
  properties: {
    id: integer,
    type: maybe,
    body: string,
    attachment: maybe,
    author: noteAuthor,
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
const todo = {
  type: 'object',
  properties: {
    id: integer,
    author: user,
    action_name: string,
    target_type: string,
    target: createIssueSchema(user),
    target_url: string,
    body: string,
    state: string,
    created_at: string,
    updated_at: string,
    project: {
      type: 'object',
      properties: {
        id: integer,
        description: maybe,
        name: string,
        name_with_namespace: string,
        path: string,
        path_with_namespace: string,
        created_at: string,
      },
    },
  },
};
/** @param {object} items */
const arrayResponseSchema = (items) => ({ 200: { type: 'array', items } });

/**
 * @param {Row} row
 * @param {string} prefix
 */
const toPerson = (row, prefix) => ({
  id: Number(row[`${prefix}id`]),
  username: row[`${prefix}username`],
  public_email: row[`${prefix}email`],
  name: row[`${prefix}name`],
  state: row[`${prefix}state`],
  locked: false,
  avatar_url: row[`${prefix}avatar`],
  web_url: `${base}/${row[`${prefix}username`]}`,
});
/**
 * The author of a note, with the e-mail address that the caller may see.
 * @param {Row} row
 * @param {number} caller
 */
const toNoteAuthor = (row, caller) => {
  const shown = toPerson(row, 'a_');
  const real = shown.id === caller ? row.a_real : null;
  const email = real ?? shown.public_email ?? `${shown.id}-${shown.username}@users.noreply.${hostname}`;
  return { ...shown, email, created_at: row.a_since.toISOString() };
};
/**
 * @param {string} alias
 * @param {string} prefix
 */
const personColumnsSql = (alias, prefix) =>
  `${alias}.id as ${prefix}id, ${alias}.username as ${prefix}username, ${alias}.public_email as ${prefix}email, ${alias}.name as ${prefix}name,
   ${alias}.state as ${prefix}state, ${alias}.avatar_url as ${prefix}avatar`;
/**
 * @param {Row} row
 * @param {number} caller
 */
const toNote = (row, caller) => ({
  id: Number(row.id),
  type: null,
  body: row.body,
  attachment: null,
  author: toNoteAuthor(row, caller),
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
  const user = tokens.get(request.headers['private-token']);
  if (!user) return reply.code(401).send({ message: '401 Unauthorized' });
  users.set(request, user);
});
const NOTE = `n.id, n.body, n.created_at, n.updated_at, n.system, n.noteable_id, n.project_id, n.internal, n.imported_from,
  ${personColumnsSql('a', 'a_')}, a.notification_email as a_real, a.created_at as a_since`;

app.get(
  '/api/v4/projects/:id/issues/:iid/notes',
  { schema: { response: arrayResponseSchema(note) } },
  async (/** @type {FastifyRequest<Note>} */ request, reply) => {
    const { rows } = await runNamedStatement(
      'r1',
      `select ${NOTE}, i.iid, i.public_notes_count as total from issues i
     join lateral (select * from notes where noteable_id = i.id and noteable_type = 'Issue' order by created_at desc, id desc limit 20) n on true
     join directory_users a on a.id = n.author_id where i.project_id = $1 and i.iid = $2 order by n.created_at desc, n.id desc`,
      [request.params['id'], request.params['iid']],
    );
    reply.header('x-total', rows[0]?.total ?? 0);
    return rows.map((row) => toNote(row, userIdOf(request)));
  },
);
app.get(
  '/api/v4/projects/:id/issues/:iid/notes/:note',
  { schema: { response: { 200: note } } },
  async (/** @type {FastifyRequest<Note>} */ request) => {
    const { rows } = await runNamedStatement(
      'r2',
      `select ${NOTE}, i.iid from issues i join notes n on n.noteable_id = i.id and n.noteable_type = 'Issue'
     join directory_users a on a.id = n.author_id where i.project_id = $1 and i.iid = $2 and n.id = $3`,
      [request.params['id'], request.params['iid'], request.params['note']],
    );
    return toNote(rows[0], userIdOf(request));
  },
);
app.get('/api/v4/todos', { schema: { response: arrayResponseSchema(todo) } }, async (request) => {
  const { rows } = await runNamedStatement(
    'r3',
    `select t.id, t.action, t.state, t.created_at, t.updated_at, n.body, n.id as note_id, p.id as p_id,
       p.description as p_description, p.name as p_name, p.path as p_path, p.created_at as p_since, s.full_name, s.full_path,
       ${personColumnsSql('a', 'a_')}, ${personColumnsSql('b', 'b_')}, ${personColumnsSql('c', 'c_')}, ${ISSUE_COLUMNS}
     from (select * from todos where user_id = $1 and state = 'pending' order by id desc limit 20) t
     join directory_projects p on p.id = t.project_id join directory_namespaces s on s.id = p.namespace_id
     join directory_users a on a.id = t.author_id join issues i on i.id = t.target_id
     join directory_users b on b.id = i.author_id left join directory_users c on c.id = i.closed_by_id
     left join notes n on n.id = t.note_id ${ISSUE_JOINS} order by t.id desc`,
    [userIdOf(request)],
  );
  return rows.map((row) => {
    const path = `${row.full_path}/${row.p_path}`;
    const target = issueOf(row, { base, path, person: toPerson });
    return {
      id: Number(row.id),
      author: toPerson(row, 'a_'),
      action_name: row.action,
      target_type: 'Issue',
      target,
      target_url: `${target.web_url}#note_${row.note_id}`,
      body: row.body,
      state: row.state,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
      project: {
        id: Number(row.p_id),
        description: row.p_description,
        name: row.p_name,
        name_with_namespace: `${row.full_name} / ${row.p_name}`,
        path: row.p_path,
        path_with_namespace: path,
        created_at: row.p_since.toISOString(),
      },
    };
  });
});
app.post(
  '/api/v4/projects/:id/issues/:iid/notes',
  { schema: { response: { 201: note } } },
  async (/** @type {FastifyRequest<Note>} */ request, reply) => {
    const { rows } = await runNamedStatement(
      'w1',
      `with i as (update issues set public_notes_count = public_notes_count + 1, updated_at = now()
       where project_id = $1 and iid = $2 returning id, iid, title),
     n as (insert into notes (noteable_type, noteable_id, project_id, author_id, body) select 'Issue', i.id, $1, $3, $4 from i returning *),
     m as (select id, notification_email from directory_users where lower(username) = $5),
     t as (insert into todos (user_id, author_id, action, project_id, target_type, target_id, note_id, source_event_id, created_at, updated_at)
       select m.id, $3, 'mentioned', $1, 'Issue', n.noteable_id, n.id, $6, now(), now() from m, n),
     f as (insert into activity_events (source_event_id, project_id, author_id, action, target_type, target_id, noteable_type, noteable_id, created_at)
       select $6, $1, $3, 'commented', 'Note', n.id, 'Issue', n.noteable_id, now() from n),
     o as (insert into bench_outbox (payload) select jsonb_build_object('note_id', n.id) from n)
     select ${NOTE}, i.iid, i.title, m.notification_email as recipient, p.name as p_name, s.full_path || '/' || p.path as p_path
     from n cross join i join directory_users a on a.id = n.author_id join directory_projects p on p.id = n.project_id
       join directory_namespaces s on s.id = p.namespace_id left join m on true`,
      [
        request.params['id'],
        request.params['iid'],
        userIdOf(request),
        request.body.body,
        /@([\w.-]+)/.exec(request.body.body)?.[1],
        randomUUID(),
      ],
    );
    if (rows[0].recipient) void smtp.sendMail(toMentionMail(rows[0]));
    reply.code(201);
    return toNote(rows[0], userIdOf(request));
  },
);

/**
 * The product's e-mail about a mention.
 * @param {Row} row
 */
function toMentionMail(row) {
  const who = `${row.a_name} (@${row.a_username})`;
  const lead = `${who} commented on issue #${row.iid}: ${row.title}`;
  const thread = `<issue_${row.noteable_id}@${hostname}>`;
  const url = `${base}/${row.p_path}/-/issues/${row.iid}#note_${row.id}`;
  const footer = 'You get this e-mail because you were mentioned.';
  return {
    from: { name: who, address: `rookery@${hostname}` },
    to: { name: '', address: row.recipient },
    replyTo: { name: row.p_path, address: `noreply@${hostname}` },
    envelope: { from: `rookery@${hostname}`, to: [row.recipient] },
    subject: `Re: ${row.p_name} | ${row.title} (#${row.iid})`,
    text: `${lead}\n\n${row.body}\n\n-- \n${footer}\n${url}\n`,
    html: `<p>${lead}</p><p>${row.body}</p><hr><p>${footer} <a href="${url}">View it</a>.</p>`,
    messageId: `<note_${row.id}.limit@${hostname}>`,
    inReplyTo: thread,
    references: thread,
    headers: {
      'X-Platform-Project': row.p_name,
      'X-Platform-Project-Id': String(row.project_id),
      'X-Platform-Project-Path': row.p_path,
      'X-Platform-Issue-ID': String(row.noteable_id),
      'X-Platform-Issue-IID': String(row.iid),
      'X-Platform-Issue-State': 'opened',
      'X-Platform-ConfidentialIssue': 'false',
      'X-Platform-Note-ID': String(row.id),
      'X-Platform-NotificationReason': 'mentioned',
      'List-Id': `${row.p_path} <bench.${hostname}>`,
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

await pool.query(
  'create table if not exists bench_outbox (id bigint generated always as identity primary key, payload jsonb not null)',
);
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
process.send?.({ type: 'ready' });
process.on('disconnect', () => process.exit());
