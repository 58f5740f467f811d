import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
let path: string;

beforeAll(async () => {
  service = await startCollaboration();
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
});
afterAll(() => service.close());

const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const anonymous = () => service.app.as(service.seed.anonymous());

/** Creates an issue; `path` is that of its notes. */
async function anIssue(fields: Record<string, unknown> = {}): Promise<{ iid: number; id: number }> {
  const { body: issue }: { body: { iid: number; id: number } } = await as('owner')
    .post(`/api/v4/projects/${project.id}/issues`)
    .send({ title: 'An issue', ...fields })
    .expect(201);
  path = `/api/v4/projects/${project.id}/issues/${issue.iid}/notes`;
  return issue;
}
const write = (name: keyof Cast, body: Record<string, unknown>) => as(name).post(path).send(body);

beforeEach(async () => void (await anIssue()));

describe('creating', () => {
  test('answers the complete note', async () => {
    const issue = await anIssue();
    const { body } = await write('guest', { body: 'Hello *there* "you"\n\u{1F600} 100%' }).expect(201);
    const { guest } = cast;
    expect(body).toEqual({
      id: expect.any(Number),
      type: null,
      body: 'Hello *there* "you"\n\u{1F600} 100%',
      attachment: null,
      author: {
        id: guest.id,
        username: guest.username,
        public_email: null,
        name: guest.name,
        state: 'active',
        locked: false,
        avatar_url: null,
        web_url: `http://localhost:8080/${guest.username}`,
        email: guest.notification_email,
        created_at: '2026-01-05T09:00:00.000Z',
      },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: body.created_at,
      system: false,
      noteable_id: issue.id,
      noteable_type: 'Issue',
      project_id: project.id,
      noteable_iid: issue.iid,
      resolvable: false,
      confidential: false,
      internal: false,
      imported: false,
      imported_from: 'none',
      commands_changes: {},
    });
    expect((await as('guest').get(`${path}/${body.id}`)).body).toEqual(body);
  });

  test("shows the author's e-mail to the author and administrators, and a private one to others", async () => {
    const { body: note } = await write('reporter', { body: 'x' });
    const emailFor = async (name: keyof Cast) => (await as(name).get(`${path}/${note.id}`)).body.author.email;
    expect(await emailFor('reporter')).toBe(cast.reporter.notification_email);
    expect(await emailFor('admin')).toBe(cast.reporter.notification_email);
    expect(await emailFor('owner')).toBe(`${cast.reporter.id}-${cast.reporter.username}@users.noreply.localhost`);
  });

  test('shows created_at of a private profile only to the author and administrators', async () => {
    const privateUser = await service.seed.user({ private_profile: true });
    await service.seed.member(privateUser, project, 'reporter');
    const by = (user: typeof privateUser) => service.app.as(service.seed.viewer(user));
    const { body: note } = await by(privateUser).post(path).send({ body: 'x' }).expect(201);
    expect(note.author.created_at).toBe(privateUser.created_at);
    const authors = async (user: typeof privateUser) => {
      const list = (await by(user).get(path).expect(200)).body[0].author;
      expect((await by(user).get(`${path}/${note.id}`).expect(200)).body.author).toEqual(list);
      return list;
    };
    expect(await authors(privateUser)).toMatchObject({ id: privateUser.id, created_at: privateUser.created_at });
    expect(await authors(cast.admin)).toMatchObject({ id: privateUser.id, created_at: privateUser.created_at });
    expect(Object.keys(await authors(cast.owner))).toEqual([
      ...Object.keys(note.author).filter((key) => key !== 'created_at'),
    ]);
    const edited = await as('owner').put(`${path}/${note.id}`).send({ body: 'y' }).expect(200);
    expect([edited.body.author.id, edited.body.author.created_at]).toEqual([privateUser.id, undefined]);
  });

  test('publishes an event with metadata and without the text', async () => {
    const issue = await anIssue();
    const { body: note } = await write('reporter', { body: 'secret words', internal: true });
    expect((await eventsOf(service.database, 'collaboration.note.created.v1')).at(-1)).toEqual({
      note_id: note.id,
      noteable_type: 'Issue',
      noteable_id: issue.id,
      noteable_iid: issue.iid,
      project_id: project.id,
      group_id: null,
      author_id: cast.reporter.id,
      internal: true,
      created_at: note.created_at,
    });
  });

  test('updates updated_at and the note count of the issue', async () => {
    const { body: before }: { body: { updated_at: string } } = await as('guest')
      .get(path.replace('/notes', ''))
      .expect(200);
    await write('guest', { body: 'x' });
    const { body: after }: { body: { updated_at: string; user_notes_count: number } } = await as('guest')
      .get(path.replace('/notes', ''))
      .expect(200);
    expect(after.user_notes_count).toBe(1);
    expect(after.updated_at >= before.updated_at).toBe(true);
  });

  test.each([
    [{}, { error: 'body is missing' }],
    [{ body: null }, { error: 'body is missing' }],
    [{ body: '' }, { message: `400 Bad request - Note {:note=>["can't be blank"]}` }],
    [{ body: ' \n\t' }, { message: `400 Bad request - Note {:note=>["can't be blank"]}` }],
    [{ body: ['a', 'b'] }, { error: 'body is invalid' }],
    [{ body: { a: 1 } }, { error: 'body is invalid' }],
    [{ body: 'x', internal: 'perhaps' }, { error: 'internal is invalid' }],
    [{ body: 'x', created_at: 'yesterday-ish' }, { error: 'created_at is invalid' }],
    [{ body: 'x', created_at: '9999-12-31T24:00:00Z' }, { error: 'created_at is invalid' }],
    [{ body: 'x', created_at: '9999-12-31T23:59:59-01:00' }, { error: 'created_at is invalid' }],
    [{ body: 'x', created_at: '1969-12-31T23:00:00Z' }, { error: 'created_at does not have a valid value' }],
    [
      { body: 'x'.repeat(1_000_001) },
      { message: '400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}' },
    ],
  ])('refuses %.60j', async (body, refusal) => {
    const response = await write('owner', body);
    expect([response.status, response.body]).toEqual([400, refusal]);
  });

  test('takes a million characters, also those of four bytes', async () => {
    const response = await write('owner', { body: '\u{1F600}'.repeat(1_000_000) }).expect(201);
    expect(response.body.body).toHaveLength(2_000_000);
  });

  test('a body of nine megabytes is too large, a NUL is invalid', async () => {
    await write('owner', { body: 'x'.repeat(9 * 1024 * 1024) }).expect(413);
    const nul = await write('owner', { body: 'a\u0000b' });
    expect([nul.status, nul.body]).toEqual([400, { error: 'body is invalid' }]);
  });

  test.each([
    [{ internal: true }, true],
    [{ confidential: true }, true],
    [{ internal: false, confidential: true }, false],
    [{ internal: 'True' }, true],
    [{}, false],
  ])('%j makes internal %s', async (flags, internal) => {
    const { body } = await write('reporter', { body: 'x', ...flags });
    expect([body.internal, body.confidential]).toEqual([internal, internal]);
  });

  test('created_at is for owners and administrators, and ignored from others', async () => {
    const created_at = '2020-02-03T04:05:06.789Z';
    const { body: own } = await write('owner', { body: 'x', created_at });
    expect([own.created_at, own.updated_at]).toEqual([created_at, created_at]);
    const { body: byAdmin } = await write('admin', { body: 'x', created_at });
    expect(byAdmin.created_at).toBe(created_at);
    const { body: other } = await write('maintainer', { body: 'x', created_at }).expect(201);
    expect(other.created_at).not.toBe(created_at);
  });

  test('a locked discussion is for members', async () => {
    await as('owner').put(path.replace('/notes', '')).send({ discussion_locked: true });
    await write('stranger', { body: 'x' }).expect(403);
    await write('guest', { body: 'x' }).expect(201);
  });

  test('unknown commands are text', async () => {
    const { status, body } = await write('owner', { body: '/closer' });
    expect([status, body.body, body.commands_changes]).toEqual([201, '/closer', {}]);
  });

  test('text that looks like an emoji award is an ordinary note', async () => {
    expect((await write('guest', { body: ':+1:' })).body.body).toBe(':+1:');
  });

  test('fifty concurrent notes are all stored with an exact count', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => write('owner', { body: `note ${i}`, internal: i % 5 === 0 })),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(50).fill(201));
    const list = await as('owner').get(path).query({ per_page: 100 });
    expect(list.body).toHaveLength(50);
    expect(list.get('x-total')).toBe('50');
    expect((await as('guest').get(path)).get('x-total')).toBe('40');
  });

  test('form, multipart and query parameters work like JSON', async () => {
    expect((await as('reporter').post(path).type('form').send({ body: 'form', internal: '1' })).body).toMatchObject({
      body: 'form',
      internal: true,
    });
    expect((await as('reporter').post(path).field({ body: 'parts', internal: 'true' })).body).toMatchObject({
      body: 'parts',
      internal: true,
    });
    expect((await as('reporter').post(path).query({ body: 'query' }).send({})).body.body).toBe('query');
  });

  test('read-only fields are ignored', async () => {
    const { body } = await write('guest', {
      body: 'x',
      id: 1,
      author_id: 1,
      system: true,
      noteable_id: 1,
      imported: true,
    });
    expect(body).toMatchObject({ author: { id: cast.guest.id }, system: false, imported: false });
  });
});

describe('listing', () => {
  test('newest first, by id when the time is the same, and in pages', async () => {
    const at = '2021-01-01T00:00:00.000Z';
    const ids: number[] = [];
    for (let i = 0; i < 5; i++) ids.push((await write('owner', { body: `${i}`, created_at: at })).body.id);
    const list = async (query: Record<string, unknown>) => as('guest').get(path).query(query);
    const idsOf = async (query: Record<string, unknown>) => (await list(query)).body.map((n: { id: number }) => n.id);
    expect(await idsOf({})).toEqual([...ids].reverse());
    expect(await idsOf({ sort: 'asc' })).toEqual(ids);
    expect(await idsOf({ order_by: 'updated_at', sort: 'asc' })).toEqual(ids);
    expect(await idsOf({ per_page: 4 })).toEqual([...ids].reverse().slice(0, 4));
    const last = await list({ per_page: 4, page: 2 });
    expect(last.body.map((n: { id: number }) => n.id)).toEqual([ids[0]]);
    expect(
      Object.fromEntries(
        Object.entries(last.headers).filter(([name]) => name.startsWith('x-') && name !== 'x-request-id'),
      ),
    ).toMatchObject({
      'x-page': '2',
      'x-per-page': '4',
      'x-prev-page': '1',
      'x-next-page': '',
      'x-total': '5',
      'x-total-pages': '2',
    });
    expect((await list({ page: 9 })).body).toEqual([]);
  });

  test('an edited note comes first by time of change', async () => {
    const first = (await write('owner', { body: 'first' })).body.id;
    await write('owner', { body: 'second' });
    await as('owner').put(`${path}/${first}`).send({ body: 'first, better' });
    const { body } = await as('guest').get(path).query({ order_by: 'updated_at' });
    expect(body[0].id).toBe(first);
  });

  test('comments and activity separately, with their own totals', async () => {
    await write('owner', { body: 'a comment' });
    await as('owner').put(path.replace('/notes', '')).send({ state_event: 'close' });
    const list = async (activity_filter: string) => as('guest').get(path).query({ activity_filter });
    const all = await list('all_notes');
    expect([all.body.length, all.get('x-total')]).toEqual([2, '2']);
    const comments = await list('only_comments');
    expect([comments.body.map((n: { body: string }) => n.body), comments.get('x-total')]).toEqual([['a comment'], '1']);
    const activity = await list('only_activity');
    expect(activity.body[0]).toMatchObject({ body: 'closed', system: true, author: { id: cast.owner.id } });
    expect(activity.get('x-total')).toBe('1');
  });

  test('an issue without notes has an empty list', async () => {
    const list = await as('guest').get(path);
    expect([list.status, list.text, list.get('x-total')]).toEqual([200, '[]', '0']);
  });

  test.each([
    [{ sort: 'up' }, 'sort does not have a valid value'],
    [{ order_by: 'id' }, 'order_by does not have a valid value'],
    [{ activity_filter: 'some' }, 'activity_filter does not have a valid value'],
  ])('refuses %j', async (query, error) => {
    const response = await as('guest').get(path).query(query);
    expect([response.status, response.body]).toEqual([400, { error }]);
  });
});

describe('visibility', () => {
  const READS_INTERNAL: [keyof Cast, boolean][] = [
    ['stranger', false],
    ['guest', false],
    ['planner', false],
    ['reporter', true],
    ['developer', true],
    ['maintainer', true],
    ['owner', true],
    ['admin', true],
  ];
  test.each(READS_INTERNAL)('internal notes and %s: %s', async (name, reads) => {
    await write('guest', { body: 'public' });
    const { body: internal } = await write('reporter', { body: 'internal', internal: true });
    const list = await as(name).get(path);
    expect(list.body).toHaveLength(reads ? 2 : 1);
    expect(list.get('x-total')).toBe(reads ? '2' : '1');
    const shown = await as(name).get(`${path}/${internal.id}`);
    expect(shown.status).toBe(reads ? 200 : 404);
    if (!reads) expect(shown.body).toEqual({ message: '404 Note Not Found' });
    const { body: issue }: { body: { user_notes_count: number } } = await as(name)
      .get(path.replace('/notes', ''))
      .expect(200);
    expect(issue.user_notes_count).toBe(reads ? 2 : 1);
    const edit = await as(name).put(`${path}/${internal.id}`).send({ body: 'x' });
    expect(edit.status).toBe(!reads ? 404 : name === 'developer' ? 403 : 200);
    await write(name, { body: 'x', internal: true }).expect(reads ? 201 : 403);
  });

  test('an author who lost the role cannot see their internal note', async () => {
    const person = await service.seed.user();
    const membership = await service.seed.member(person, project, 'reporter');
    const client = () => service.app.as(service.seed.viewer(person));
    const note = (await client().post(path).send({ body: 'mine', internal: true })).body;
    await service.seed.put('memberships', { ...membership, access_level: 10 });
    await client().get(`${path}/${note.id}`).expect(404);
    expect((await client().put(`${path}/${note.id}`).send({ body: 'x' })).body).toEqual({
      message: '404 Note Not Found',
    });
    await client().delete(`${path}/${note.id}`).expect(404);
  });

  test('anonymous callers get 401, also in a public project', async () => {
    const note = (await write('owner', { body: 'x' })).body;
    for (const request of [
      anonymous().get(path),
      anonymous().get(`${path}/${note.id}`),
      anonymous().post(path).send({ body: 'x' }),
      anonymous().put(`${path}/${note.id}`).send({ body: 'x' }),
      anonymous().delete(`${path}/${note.id}`),
    ]) {
      expect([(await request).status, (await request).body]).toEqual([401, { message: '401 Unauthorized' }]);
    }
  });

  test.each(['private', 'internal'] as const)('a %s project hides from outsiders', async (visibility) => {
    const hidden = await service.seed.project({ visibility });
    const member = await service.seed.user();
    await service.seed.member(member, hidden, 'guest');
    const client = service.app.as(service.seed.viewer(member));
    const { body: issue }: { body: { iid: number } } = await client
      .post(`/api/v4/projects/${hidden.id}/issues`)
      .send({ title: 'x' })
      .expect(201);
    const at = `/api/v4/projects/${hidden.id}/issues/${issue.iid}/notes`;
    await client.post(at).send({ body: 'x' }).expect(201);
    const expected = visibility === 'private' ? 404 : 200;
    await as('stranger').get(at).expect(expected);
    const external = await as('external').get(at);
    expect([external.status, external.body]).toEqual([404, { message: '404 Project Not Found' }]);
  });

  test('notes of a confidential issue are for readers of the issue', async () => {
    await anIssue({ confidential: true });
    const refused = await as('guest').get(path);
    expect([refused.status, refused.body]).toEqual([404, { message: '404 Issue Not Found' }]);
    expect((await write('guest', { body: 'x' })).body).toEqual({ message: '404 Issue Not Found' });
    await as('planner').get(path).expect(200);
  });

  test('notes are 404 if issues are disabled', async () => {
    const off = await service.seed.project({ issues_access_level: 'disabled' });
    const response = await as('admin').get(`/api/v4/projects/${off.id}/issues/1/notes`);
    expect([response.status, response.body]).toEqual([404, { message: '404 Issue Not Found' }]);
  });
});

describe('one note', () => {
  test('of another issue, of no issue and with a too large id is 404', async () => {
    const note = (await write('owner', { body: 'x' })).body;
    const elsewhere = path;
    await anIssue();
    const foreign = await as('owner').get(`${path}/${note.id}`);
    expect([foreign.status, foreign.body]).toEqual([404, { message: '404 Not found' }]);
    await as('owner').put(`${path}/${note.id}`).send({ body: 'x' }).expect(404);
    await as('owner').delete(`${path}/${note.id}`).expect(404);
    await as('owner').get(`${elsewhere}/${note.id}`).expect(200);
    const noIssue = await as('owner').get(`/api/v4/projects/${project.id}/issues/999999/notes`);
    expect([noIssue.status, noIssue.body]).toEqual([404, { message: '404 Issue Not Found' }]);
    for (const id of ['99999999999999999999', 'abc', '1.5', '-', '%00']) {
      const odd = await as('owner').get(`${path}/${id}`);
      expect([400, 404]).toContain(odd.status);
    }
    expect(
      (await as('owner').get(`/api/v4/projects/${project.id}/issues/12345678901234567890/notes`)).status,
    ).toBeLessThan(500);
  });

  test('notes of another project are 404 in this one', async () => {
    const other = await service.seed.project();
    const { body: issue }: { body: { iid: number } } = await as('admin')
      .post(`/api/v4/projects/${other.id}/issues`)
      .send({ title: 'x' })
      .expect(201);
    const note = (await as('admin').post(`/api/v4/projects/${other.id}/issues/${issue.iid}/notes`).send({ body: 'x' }))
      .body;
    await as('owner').get(`${path}/${note.id}`).expect(404);
  });
});

describe('editing', () => {
  test('changes text and updated_at, and publishes the former mentions', async () => {
    const { body: note } = await write('guest', {
      body: `see @${cast.reporter.username} and \`@${cast.owner.username}\``,
    });
    const edited = await as('guest')
      .put(`${path}/${note.id}`)
      .send({ body: `and @${cast.owner.username}` })
      .expect(200);
    expect(edited.body).toEqual({ ...note, body: `and @${cast.owner.username}`, updated_at: edited.body.updated_at });
    expect((await eventsOf(service.database, 'collaboration.note.updated.v1')).at(-1)).toMatchObject({
      note_id: note.id,
      mentioned_before: [cast.reporter.id],
      changed_at: edited.body.updated_at,
    });
  });

  test('the same text changes and publishes nothing', async () => {
    const { body: note } = await write('guest', { body: 'x' });
    const before = (await eventsOf(service.database, 'collaboration.note.updated.v1')).length;
    expect((await as('guest').put(`${path}/${note.id}`).send({ body: 'x' })).body).toEqual(note);
    expect(await eventsOf(service.database, 'collaboration.note.updated.v1')).toHaveLength(before);
  });

  test('needs a body unless only the deprecated flag is sent, which changes nothing', async () => {
    const { body: note } = await write('guest', { body: 'x' });
    const at = `${path}/${note.id}`;
    const missing = await as('guest').put(at).send({});
    expect([missing.status, missing.body]).toEqual([400, { error: 'body is missing' }]);
    const blank = await as('guest').put(at).send({ body: ' ' });
    expect([blank.status, blank.body]).toEqual([400, { error: 'body is empty' }]);
    const long = await as('guest')
      .put(at)
      .send({ body: 'x'.repeat(1_000_001) });
    expect([long.status, long.body]).toEqual([
      400,
      { message: { note: ['is too long (maximum is 1000000 characters)'] } },
    ]);
    const flag = await as('guest').put(at).send({ confidential: true });
    expect([flag.status, flag.body]).toEqual([200, note]);
  });

  const EDITS_OTHERS: [keyof Cast, number][] = [
    ['stranger', 403],
    ['guest', 403],
    ['reporter', 403],
    ['developer', 403],
    ['maintainer', 200],
    ['owner', 200],
    ['admin', 200],
  ];
  test.each(EDITS_OTHERS)("another's note by %s: %i", async (name, status) => {
    const { body: note } = await write('planner', { body: 'x' });
    await as(name).put(`${path}/${note.id}`).send({ body: 'y' }).expect(status);
    await as(name)
      .delete(`${path}/${note.id}`)
      .expect(status === 200 ? 204 : status);
  });

  test('system notes cannot be changed', async () => {
    await as('owner').put(path.replace('/notes', '')).send({ state_event: 'close' });
    const [note] = (await as('owner').get(path)).body;
    await as('admin').put(`${path}/${note.id}`).send({ body: 'x' }).expect(403);
    await as('owner').delete(`${path}/${note.id}`).expect(403);
  });
});

describe('deleting', () => {
  test('removes the note, updates the count and publishes an event; a second request is 404', async () => {
    const { body: note } = await write('guest', { body: 'x' });
    const gone = await as('guest').delete(`${path}/${note.id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    await as('guest').delete(`${path}/${note.id}`).expect(404);
    expect((await as('guest').get(path)).get('x-total')).toBe('0');
    expect((await eventsOf(service.database, 'collaboration.note.deleted.v1')).at(-1)).toMatchObject({
      note_id: note.id,
    });
  });

  test('is refused if the note changed since If-Unmodified-Since', async () => {
    const { body: note } = await write('guest', { body: 'x' });
    const stale = await as('guest')
      .delete(`${path}/${note.id}`)
      .set('if-unmodified-since', 'Sat, 01 Jan 2000 00:00:00 GMT');
    expect([stale.status, stale.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    await as('guest')
      .delete(`${path}/${note.id}`)
      .set('if-unmodified-since', new Date(Date.now() + 60_000).toUTCString())
      .expect(204);
  });

  test('a DELETE with an empty JSON body or only a content type is accepted', async () => {
    const { body: one } = await write('guest', { body: 'x' });
    await as('guest').delete(`${path}/${one.id}`).send({}).expect(204);
    const { body: two } = await write('guest', { body: 'x' });
    await as('guest').delete(`${path}/${two.id}`).set('content-type', 'application/json').expect(204);
  });

  test('the count stays exact during concurrent writes and deletions', async () => {
    const first = await Promise.all(Array.from({ length: 20 }, () => write('owner', { body: 'x' })));
    const steps = first.flatMap(({ body: note }, i) => [
      () => as('owner').delete(`${path}/${note.id}`),
      () => as('owner').delete(`${path}/${note.id}`),
      () => write('reporter', { body: 'y', internal: i % 2 === 0 }),
    ]);
    const statuses = (await Promise.all(steps.map((step) => step()))).map((answer) => answer.status);
    expect(statuses.filter((status) => status === 204)).toHaveLength(20);
    expect(statuses.filter((status) => status === 404)).toHaveLength(20);
    const [counts] = await service.database.query<Record<string, number>>(
      `select i.public_notes_count as public, i.internal_notes_count as internal,
        (select count(*)::integer from notes n where n.noteable_id = i.id and not n.internal) as real_public,
        (select count(*)::integer from notes n where n.noteable_id = i.id and n.internal) as real_internal
       from issues i where i.project_id = $1 order by id desc limit 1`,
      [project.id],
    );
    expect(counts).toEqual({ public: 10, internal: 10, real_public: 10, real_internal: 10 });
  });
});

test('notes cannot be written in an archived project', async () => {
  const { body: note } = await write('owner', { body: 'x' });
  await service.seed.put('projects', { ...project, archived: true });
  try {
    await write('owner', { body: 'x' }).expect(403);
    await as('admin').put(`${path}/${note.id}`).send({ body: 'y' }).expect(403);
    await as('owner').delete(`${path}/${note.id}`).expect(403);
    await as('guest').get(path).expect(200);
  } finally {
    await service.seed.put('projects', project);
  }
});
