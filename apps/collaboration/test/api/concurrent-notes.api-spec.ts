import { untilBlocked } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { Client } from 'pg';
import { startCollaboration } from '../support/app';

/** Many concurrent notes on one issue, which changes meanwhile. Source: docs/architecture.md 5. */

const PEOPLE = 5;
const NOTES = 100;

let service: SeededService;
let project: number;
let owner: SeededUser;
const people: SeededUser[] = [];

beforeAll(async () => {
  service = await startCollaboration({ NOTES_PER_NOTEABLE_COUNT: String(NOTES + 1) });
  ({ id: project } = await service.seed.project());
  owner = await service.seed.user();
  for (let n = 0; n < PEOPLE; n++) people.push(await service.seed.user());
});
afterAll(() => service.close());

const as = (user: SeededUser) => service.app.as(service.seed.viewer(user));

interface OpenedIssue {
  readonly id: number;
  readonly path: string;
}
async function open(): Promise<OpenedIssue> {
  const path = `/api/v4/projects/${project}/issues`;
  const { body } = await as(owner).post(path).send({ title: 'Hot' }).expect(201);
  const { id, iid } = body as { id: number; iid: number };
  return { id, path: `${path}/${iid}` };
}

interface NoteCounts {
  readonly counted: number;
  readonly there: number;
  readonly announced: number;
  readonly is_touched: boolean;
}
async function readNoteCounts({ id }: OpenedIssue): Promise<NoteCounts> {
  const [row] = await service.database.query<NoteCounts>(
    `select i.public_notes_count + i.internal_notes_count as counted, count(n.id) as there,
       (select count(*) from outbox o where o.subject = 'collaboration.note.created.v1'
          and (o.payload->>'noteable_id')::bigint = i.id) as announced,
       coalesce(i.updated_at >= max(n.created_at), false) as is_touched
     from issues i left join notes n on n.noteable_id = i.id and n.noteable_type = 'Issue' and not n.system
     where i.id = $1 group by i.id`,
    [id],
  );
  return row!;
}

test('concurrent notes and threads are all stored, counted and published', async () => {
  const issue = await open();
  const writes = Array.from({ length: NOTES }, (_, n) =>
    as(people[n % PEOPLE]!)
      .post(`${issue.path}/${n % 3 === 0 ? 'discussions' : 'notes'}`)
      .send({ body: `Number ${n}` })
      .expect(201),
  );
  await Promise.all(writes);
  expect(await readNoteCounts(issue)).toEqual({ counted: NOTES, there: NOTES, announced: NOTES, is_touched: true });
  const { body: shown } = await as(owner).get(issue.path).expect(200);
  expect(shown).toMatchObject({ user_notes_count: NOTES });
  const { body, headers } = await as(owner)
    .get(`${issue.path}/notes`)
    .query({ per_page: 100, sort: 'asc' })
    .expect(200);
  expect(headers).toMatchObject({ 'x-total': String(NOTES) });
  // Ordered by creation time, and by id within one millisecond.
  const listed = (body as { id: number; created_at: string }[]).map(({ id, created_at }) => [created_at, id] as const);
  expect(new Set(listed.map(([, id]) => id)).size).toBe(NOTES);
  const sorted = [...listed].sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x - y));
  expect(listed).toEqual(sorted);
  const minutes = await service.database.query<{ notes_count: number }>(
    'select notes_count from note_creations where user_id = any($1::bigint[])',
    [people.map(({ id }) => id)],
  );
  expect(minutes.map((row) => row.notes_count)).toEqual(people.map(() => NOTES / PEOPLE));
});

/** Writes a note while another transaction, which commits first, revokes the permission for it. */
async function writeWhileIssueIsLocked(issue: OpenedIssue, change: string, writer: SeededUser) {
  const other = new Client({ connectionString: service.databaseUrl });
  await other.connect();
  try {
    await other.query('begin');
    await other.query(change, [issue.id]);
    const answer = as(writer)
      .post(`${issue.path}/notes`)
      .send({ body: 'Too late' })
      .then((response) => response);
    await untilBlocked((sql) => service.database.query(sql));
    await other.query('commit');
    return await answer;
  } finally {
    await other.end();
  }
}

test.each([
  ['locked', 'update issues set discussion_locked = true where id = $1', 403, '403 Forbidden'],
  ['made confidential', 'update issues set confidential = true where id = $1', 404, '404 Issue Not Found'],
  ['moved away', 'update issues set project_id = project_id + 1000 where id = $1', 404, '404 Issue Not Found'],
  ['deleted', 'delete from issues where id = $1', 404, '404 Issue Not Found'],
  [
    'full',
    `update issues set public_notes_count = ${NOTES + 1} where id = $1`,
    400,
    { base: ['Maximum number of comments exceeded'] },
  ],
])('an issue that is %s meanwhile gets no note, and the writer gets the reason', async (_, change, status, message) => {
  const issue = await open();
  const writer = await service.seed.user();
  const answer = await writeWhileIssueIsLocked(issue, change, writer);
  expect({ status: answer.status, body: answer.body as unknown }).toEqual({ status, body: { message } });
  const left = await service.database.query(
    `select 1 from notes where noteable_id = $1 and noteable_type = 'Issue'
     union all select 1 from outbox where subject = 'collaboration.note.created.v1' and (payload->>'noteable_id')::bigint = $1
     union all select 1 from note_creations where user_id = $2`,
    [issue.id, writer.id],
  );
  expect(left).toEqual([]);
});

test('a note that only waited for a lock is stored', async () => {
  const issue = await open();
  const answer = await writeWhileIssueIsLocked(issue, `update issues set title = 'Other' where id = $1`, people[0]!);
  expect(answer.status).toBe(201);
  expect(await readNoteCounts(issue)).toEqual({ counted: 1, there: 1, announced: 1, is_touched: true });
});
