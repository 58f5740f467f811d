import type { DirectoryProject } from '@rookery/contracts';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
} from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { snippetActions } from '../support/snippet-actions';
import type { ShownSnippet } from '../support/snippet-actions';

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
let person: SeededUser;

const { by, at, wish, made } = snippetActions(() => service);
beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());
beforeEach(async () => {
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
  person = await service.seed.user();
});

/** A user and a place in which they have all permissions: a project, or null for personal snippets. */
const PLACES = ['a project', 'a person'] as const;
type Place = (typeof PLACES)[number];
const projectAndAuthorOf = (place: Place) =>
  place === 'a project' ? { of: project, who: cast.maintainer } : { of: null, who: person };
const createSnippetIn = (place: Place, over: Record<string, unknown> = {}): Promise<ShownSnippet> =>
  made(projectAndAuthorOf(place).who, projectAndAuthorOf(place).of, over);
const path = (place: Place, { id }: ShownSnippet, tail = ''): string =>
  at(projectAndAuthorOf(place).of, `/${id}${tail}`);
const clientOf = (place: Place) => by(projectAndAuthorOf(place).who);
const rawOf = async (place: Place, snippet: ShownSnippet, file: string): Promise<string> =>
  (
    await clientOf(place)
      .get(path(place, snippet, `/files/main/${encodeURIComponent(file)}/raw`))
      .expect(200)
  ).text;
const change = (place: Place, snippet: ShownSnippet, over: Record<string, unknown>) =>
  clientOf(place).put(path(place, snippet)).send(over);
const namesOf = ({ files }: ShownSnippet): string[] => files.map((file) => file.path);

test('a project snippet is shown completely', async () => {
  const files = [
    { file_path: 'src/b ä.txt', content: 'Beta' },
    { file_path: 'a.txt', content: 'Alpha' },
  ];
  const { body } = await by(cast.reporter)
    .post(at(project))
    .send(wish({ title: ' Two ', description: 'why', visibility: 'internal', files }))
    .expect(201);
  const { id, created_at: madeAt, author } = body as { id: number; created_at: string; author: object };
  const home = (
    await service.database.query<{ path: string }>(
      `select n.full_path || '/' || p.path as path from directory_projects p join directory_namespaces n
     on n.id = p.namespace_id where p.id = $1`,
      [project.id],
    )
  )[0]!.path;
  const page = `http://localhost:8080/${home}/-/snippets/${id}`;
  expect(body).toEqual({
    id: expect.any(Number),
    title: 'Two',
    file_name: 'a.txt',
    files: [
      { path: 'a.txt', raw_url: `${page}/raw/main/a.txt` },
      { path: 'src/b ä.txt', raw_url: `${page}/raw/main/src/b%20%C3%A4.txt` },
    ],
    description: 'why',
    visibility: 'internal',
    author: expect.objectContaining({ id: cast.reporter.id, username: cast.reporter.username }),
    updated_at: madeAt,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    project_id: project.id,
    imported: false,
    imported_from: 'none',
    web_url: page,
    raw_url: `${page}/raw`,
    ssh_url_to_repo: null,
    http_url_to_repo: null,
  });
  expect(Object.keys(author)).toContain('public_email');
  expect(
    (
      await by(cast.guest)
        .get(at(project, `/${id}`))
        .expect(200)
    ).body,
  ).toEqual(body);
  expect((await by(cast.guest).get(at(project)).expect(200)).body).toEqual([body]);
  expect((await by(cast.guest).get(`/api/v4/projects/${encodeURIComponent(home)}/snippets/${id}`)).body).toEqual(body);
});

test('a personal snippet is private by default, has no project, and its own URLs', async () => {
  const { visibility: _, ...rest } = wish();
  const { body } = await by(person).post('/api/v4/snippets').send(rest).expect(201);
  const page = `http://localhost:8080/-/snippets/${(body as ShownSnippet).id}`;
  expect(body).toMatchObject({
    visibility: 'private',
    project_id: null,
    description: null,
    web_url: page,
    raw_url: `${page}/raw`,
    files: [{ path: 'a.txt', raw_url: `${page}/raw/main/a.txt` }],
  });
  expect(
    (
      await by(person)
        .get(`/api/v4/snippets/${(body as ShownSnippet).id}`)
        .expect(200)
    ).body,
  ).toEqual(body);
});

test("personal lists contain the caller's or public snippets, between two times", async () => {
  const other = await service.seed.user();
  const own = [await made(person, null), await made(person, null, { visibility: 'public' })];
  await made(cast.reporter, project, { visibility: 'public' });
  const theirs = await made(other, null, { visibility: 'public' });
  await made(other, null, { visibility: 'internal' });
  await service.database.query(`update snippets set created_at = '2020-01-01' where id = $1`, [own[1]!.id]);
  const listed = async (tail: string, query: object = {}): Promise<number[]> =>
    ((await by(person).get(`/api/v4/snippets${tail}`).query(query).expect(200)).body as ShownSnippet[]).map(
      ({ id }) => id,
    );
  expect(await listed('')).toEqual([own[0]!.id, own[1]!.id]);
  expect(await listed('/public')).toEqual(expect.arrayContaining([theirs.id, own[1]!.id]));
  expect(await listed('/public')).not.toContain(own[0]!.id);
  expect(await listed('', { created_before: '2020-06-01' })).toEqual([own[1]!.id]);
  expect(await listed('', { created_after: '2020-06-01T00:00:00Z' })).toEqual([own[0]!.id]);
  expect(await listed('/public', { created_before: '2020-06-01' })).toEqual([own[1]!.id]);
  for (const tail of ['', '/public']) {
    expect((await by(null).get(`/api/v4/snippets${tail}`).expect(401)).body).toEqual({ message: '401 Unauthorized' });
  }
  expect((await by(person).get('/api/v4/snippets?created_after=soon').expect(400)).body).toEqual({
    error: 'created_after is invalid',
  });
});

describe.each(PLACES)('of %s', (place) => {
  test('raw text is returned unchanged as an attachment', async () => {
    const html = '<script>alert("ä 🐦")</script>\r\n\n';
    const snippet = await createSnippetIn(place, { files: [{ file_path: 'x/a "ä".html', content: html }] });
    for (const tail of [
      '/raw',
      '/files/main/x%2Fa%20%22%C3%A4%22.html/raw',
      '/files/HEAD/x%2Fa%20%22%C3%A4%22.html/raw',
    ]) {
      const response = await clientOf(place)
        .get(path(place, snippet, tail))
        .expect(200);
      expect(response.text).toBe(html);
      expect(response.headers).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'",
        'content-disposition': `attachment; filename="a ___.html"; filename*=UTF-8''a%20%22%C3%A4%22.html`,
        'content-length': String(Buffer.byteLength(html)),
      });
      const head = await clientOf(place)
        .head(path(place, snippet, tail))
        .expect(200);
      expect(head.headers['content-length']).toBe(String(Buffer.byteLength(html)));
    }
  });

  test('it is 404 in other places', async () => {
    const snippet = await createSnippetIn(place);
    const refusalOf = async (tail: string) =>
      (
        await clientOf(place)
          .get(path(place, snippet, tail))
          .expect(404)
      ).body as unknown;
    expect(await refusalOf('/files/master/a.txt/raw')).toEqual({ message: '404 Reference Not Found' });
    expect(await refusalOf('/files/main/b.txt/raw')).toEqual({ message: '404 File Not Found' });
    const missing = { ...snippet, id: 999_999 };
    for (const tail of ['', '/raw', '/files/nowhere/a.txt/raw']) {
      expect(
        (
          await clientOf(place)
            .get(path(place, missing, tail))
            .expect(404)
        ).body,
      ).toEqual({
        message: '404 Snippet Not Found',
      });
    }
    for (const method of ['put', 'delete'] as const) {
      expect((await clientOf(place)[method](path(place, missing)).send({ title: 'x' }).expect(404)).body).toEqual({
        message: '404 Snippet Not Found',
      });
    }
    expect(
      (
        await clientOf(place)
          .get(path(place, { ...snippet, id: 'x' } as never))
          .expect(400)
      ).body,
    ).toEqual({
      error: place === 'a project' ? 'snippet_id is invalid' : 'id is invalid',
    });
  });

  test('a single file can be given without a list', async () => {
    const { files: _, ...rest } = wish();
    const { body } = await clientOf(place)
      .post(at(projectAndAuthorOf(place).of))
      .send({ ...rest, file_name: 'one.txt', content: 'One' })
      .expect(201);
    const snippet = body as ShownSnippet;
    expect([snippet.file_name, namesOf(snippet), await rawOf(place, snippet, 'one.txt')]).toEqual([
      'one.txt',
      ['one.txt'],
      'One',
    ]);
    await change(place, snippet, { file_name: 'two.txt' }).expect(200);
    expect(await rawOf(place, snippet, 'two.txt')).toBe('One');
    await change(place, snippet, { content: 'Two' }).expect(200);
    expect(await rawOf(place, snippet, 'two.txt')).toBe('Two');
    const { body: third } = await change(place, snippet, { file_name: 'three.txt', content: 'Three' }).expect(200);
    expect(namesOf(third as ShownSnippet)).toEqual(['three.txt']);
    expect(await rawOf(place, snippet, 'three.txt')).toBe('Three');
    await change(place, snippet, { files: [{ action: 'create', file_path: 'more.txt', content: 'x' }] }).expect(200);
    for (const only of [{ content: 'x' }, { file_name: 'x' }]) {
      expect((await change(place, snippet, only).expect(400)).body).toEqual({
        message: 'To update Snippets with multiple files, you must use the `files` parameter',
      });
    }
  });

  test('file actions are applied in order, all or none', async () => {
    const contents = { 'a.txt': 'Alpha', 'b.txt': 'Beta', 'c.txt': 'Gamma' };
    const files = Object.entries(contents).map(([file_path, content]) => ({ file_path, content }));
    const snippet = await createSnippetIn(place, { files });
    const { body } = await change(place, snippet, {
      files: [
        { action: 'move', previous_path: 'a.txt', file_path: 't.txt' },
        { action: 'move', previous_path: 'b.txt', file_path: 'a.txt' },
        { action: 'move', previous_path: 't.txt', file_path: 'b.txt', content: 'Alpha again' },
        { action: 'delete', file_path: 'c.txt' },
        { action: 'create', file_path: 'd/e.txt', content: 'Delta' },
        { action: 'update', file_path: 'd/e.txt', content: 'Delta again' },
      ],
    }).expect(200);
    expect(namesOf(body as ShownSnippet)).toEqual(['a.txt', 'b.txt', 'd/e.txt']);
    const now = ['a.txt', 'b.txt', 'd/e.txt'];
    const seen = async () => Promise.all(now.map((name) => rawOf(place, snippet, name)));
    expect(await seen()).toEqual(['Beta', 'Alpha again', 'Delta again']);
    const { body: refused } = await change(place, snippet, {
      title: 'Other',
      files: [
        { action: 'update', file_path: 'a.txt', content: 'lost' },
        { action: 'delete', file_path: 'c.txt' },
      ],
    }).expect(400);
    expect(refused).toEqual({ message: { files: ['have no c.txt'] } });
    expect((await clientOf(place).get(path(place, snippet))).body).toEqual(body);
    expect(await seen()).toEqual(['Beta', 'Alpha again', 'Delta again']);
  });

  test('a change to the current values changes nothing', async () => {
    const snippet = await createSnippetIn(place);
    await service.database.query(`update snippets set updated_at = '2020-01-01' where id = $1`, [snippet.id]);
    for (const same of [{ title: 'A title ' }, { visibility: 'private' }, { file_name: 'a.txt' }, { files: [] }]) {
      const { body } = await change(place, snippet, same).expect(200);
      expect([same, (body as ShownSnippet).updated_at]).toEqual([same, '2020-01-01T00:00:00.000Z']);
    }
    const { body } = await change(place, snippet, { title: 'B', description: 'x', visibility: 'public' }).expect(200);
    expect(body).toMatchObject({ title: 'B', description: 'x', visibility: 'public', files: snippet.files });
    expect((body as ShownSnippet).updated_at > '2020').toBe(true);
    expect((await change(place, snippet, { description: null }).expect(200)).body).toMatchObject({ description: null });
  });

  test.each<[string, Record<string, unknown>, unknown]>([
    ['a blank title', { title: ' ' }, { message: { title: ["can't be blank"] } }],
    ['a long title', { title: 'x'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    ['a long description', { description: 'x'.repeat(1_048_577) }, { message: { description: ['is too long (maximum is 1048576 characters)'] } }],
    ['another visibility', { visibility: 'secret' }, { error: 'visibility does not have a valid value' }],
    ['files and content', { content: 'x' }, { error: 'files, content are mutually exclusive' }],
  ])('%s is refused', async (_, over, expected) => {
    const snippet = await createSnippetIn(place);
    const { body } = await clientOf(place).post(at(projectAndAuthorOf(place).of)).send(wish(over)).expect(400);
    expect(body).toEqual(expected);
    const sent = 'content' in over ? { ...over, files: [{ action: 'delete', file_path: 'a' }] } : over;
    expect((await change(place, snippet, sent).expect(400)).body).toEqual(expected);
  }); // oxfmt-ignore

  test.each<[string, Record<string, unknown>, unknown]>([
    ['no title', { title: undefined }, { error: 'title is missing' }],
    ['no files', { files: undefined }, { error: 'files, content are missing, exactly one parameter must be provided' }],
    ['an empty list', { files: [] }, { message: { files: ["can't be blank"] } }],
    ['content without a name', { files: undefined, content: 'x' }, { error: 'file_name is missing' }],
    ['a blank content', { files: undefined, content: ' ', file_name: 'a' }, { error: 'content is empty' }],
    ['a file without content', { files: [{ file_path: 'a' }] }, { error: 'files[0][content] is missing' }],
    ['a file without a path', { files: [{ content: 'a' }] }, { error: 'files[0][file_path] is missing' }],
    ['a path outside the snippet', { files: [{ file_path: '../a', content: 'x' }] }, { message: { files: ['have a path that is invalid'] } }],
    ['a path with a line break', { files: [{ file_path: 'a\r\nSet-Cookie: x', content: 'x' }] }, { message: { files: ['have a path that is invalid'] } }],
    ['a path twice', { files: [{ file_path: 'a', content: 'x' }, { file_path: 'a', content: 'x' }] }, { message: { files: ['have a already'] } }],
    ['eleven files', { files: Array.from({ length: 11 }, (_, at) => ({ file_path: `${at}`, content: 'x' })) }, { message: { files: ['are too many (maximum is 10)'] } }],
    ['too much', { files: [{ file_path: 'a', content: 'x'.repeat(4_194_305) }] }, { message: { files: ['are too big (maximum is 4194304 bytes)'] } }],
  ])('%s is refused', async (_, over, expected) => {
    expect((await clientOf(place).post(at(projectAndAuthorOf(place).of)).send(wish(over)).expect(400)).body).toEqual(expected);
  }); // oxfmt-ignore

  test.each<[string, Record<string, unknown>, unknown]>([
    ['nothing', {}, { error: 'content, description, files, file_name, title, visibility are missing, at least one parameter must be provided' }],
    ['files and a name', { files: [{ action: 'delete', file_path: 'a' }], file_name: 'x' }, { error: 'files, file_name are mutually exclusive' }],
    ['no action', { files: [{ file_path: 'a' }] }, { error: 'files[0][action] is missing' }],
    ['another action', { files: [{ action: 'chmod' }] }, { error: 'files[0][action] does not have a valid value' }],
    ['no path', { files: [{ action: 'update', content: 'x' }] }, { message: { files: ['have an action without file_path'] } }],
    ['the last file', { files: [{ action: 'delete', file_path: 'a.txt' }] }, { message: { files: ["can't be blank"] } }],
    ['a name outside the snippet', { file_name: '..' }, { message: { files: ['have a path that is invalid'] } }],
  ])('a change by %s is refused', async (_, over, expected) => {
    expect((await change(place, await createSnippetIn(place), over).expect(400)).body).toEqual(expected);
  }); // oxfmt-ignore

  test('it is deleted, unless it changed since If-Unmodified-Since', async () => {
    const snippet = await createSnippetIn(place);
    const remove = (since?: string) => {
      const request = clientOf(place).delete(path(place, snippet));
      return since === undefined ? request : request.set('If-Unmodified-Since', since);
    };
    expect((await remove('Wed, 01 Jan 2020 00:00:00 GMT').expect(412)).body).toEqual({
      message: '412 Precondition Failed',
    });
    expect((await remove().expect(204)).text).toBe('');
    expect((await remove().expect(404)).body).toEqual({ message: '404 Snippet Not Found' });
    const left = await service.database.query('select 1 from snippet_files where snippet_id = $1', [snippet.id]);
    expect(left).toEqual([]);
    const deleted = (await eventsOf(service.database, 'collaboration.snippet.deleted.v1')).at(-1);
    const event = { snippet_id: snippet.id, snippet_iid: null, project_id: project.id };
    if (place === 'a project') expect(deleted).toEqual(event);
    else expect(deleted).not.toMatchObject({ snippet_id: snippet.id });
  });

  test('administrators see the user agent and address of its creation', async () => {
    const post = clientOf(place).post(at(projectAndAuthorOf(place).of));
    const from = { 'user-agent': `Nest/1 ${'x'.repeat(300)}`, 'x-forwarded-for': '192.0.2.7' };
    const snippet = (
      await post
        .set(from)
        .send(wish({ visibility: 'public' }))
        .expect(201)
    ).body as ShownSnippet;
    const detail = path(place, snippet, '/user_agent_detail');
    expect((await by(cast.admin).get(detail).expect(200)).body).toEqual({
      user_agent: `Nest/1 ${'x'.repeat(248)}`,
      ip_address: '192.0.2.7',
      akismet_submitted: false,
    });
    expect((await clientOf(place).get(detail).expect(403)).body).toEqual({ message: '403 Forbidden' });
    expect((await by(null).get(detail).expect(401)).body).toEqual({ message: '401 Unauthorized' });
    const unknown = path(place, await createSnippetIn(place), '/user_agent_detail');
    expect((await by(cast.admin).get(unknown).expect(404)).body).toEqual({ message: '404 UserAgentDetail Not Found' });
    const missing = path(place, { ...snippet, id: 999_999 }, '/user_agent_detail');
    expect((await by(cast.admin).get(missing).expect(404)).body).toEqual({ message: '404 Snippet Not Found' });
  });

  describe('parameters', () => {
    registerParameterEncodingTests({
      app: () => service.app,
      to: () => ({
        viewer: service.seed.viewer(projectAndAuthorOf(place).who),
        method: 'POST',
        path: at(projectAndAuthorOf(place).of),
        params: wish({ title: '1 & 100%', visibility: 'internal', files: [{ file_path: 'a b', content: 'x + y' }] }),
      }),
      seen: ({ title, visibility, file_name }) => [title, visibility, file_name],
      expected: ['1 & 100%', 'internal', 'a b'],
    });
  });
});

test('a project snippet needs a visibility', async () => {
  const sent = wish({ visibility: undefined });
  expect((await by(cast.owner).post(at(project)).send(sent).expect(400)).body).toEqual({
    error: 'visibility is missing',
  });
});

describe('the list of a project', () => {
  let many: DirectoryProject;
  let owner: SeededUser;
  beforeAll(async () => {
    many = await service.seed.project();
    owner = await service.seed.user();
    await service.seed.member(owner, many, 'owner');
    for (let at = 0; at < 7; at++) await made(owner, many);
  });
  registerListPagingTests(() => ({ app: service.app, viewer: service.seed.viewer(owner), path: at(many), rows: 7 }));
});

describe("the caller's list", () => {
  let owner: SeededUser;
  beforeAll(async () => {
    owner = await service.seed.user();
    for (let at = 0; at < 7; at++) await made(owner, null);
  });
  registerListPagingTests(() => ({
    app: service.app,
    viewer: service.seed.viewer(owner),
    path: '/api/v4/snippets',
    query: { created_after: '2001-01-01' },
    rows: 7,
  }));
});

describe('adding one to a project', () => {
  registerRefusalOrderTests(
    () => service.app,
    async () => {
      const hidden = await service.seed.project({ visibility: 'private' });
      const people = await castOf(service.seed, hidden);
      return {
        method: 'POST',
        path: at(hidden),
        good: wish(),
        bad: {},
        anonymous: service.seed.anonymous(),
        outsider: service.seed.viewer(people.stranger),
        reader: service.seed.viewer(people.planner),
        allowed: service.seed.viewer(people.reporter),
      };
    },
  );
});

describe('a snippet of another place', () => {
  let own: ShownSnippet;
  let personal: ShownSnippet;
  beforeEach(async () => {
    own = await made(cast.owner, project, { visibility: 'public' });
    personal = await made(cast.owner, null, { visibility: 'public' });
  });
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => service.seed.viewer(cast.owner),
    requests: async () => {
      const other = await service.seed.project();
      await service.seed.member(cast.owner, other, 'owner');
      const paths = [at(other, `/${own.id}`), at(null, `/${own.id}`), at(project, `/${personal.id}`)];
      const reads = ['', '/raw', '/files/main/a.txt/raw'];
      return paths.flatMap((one) => [
        ...reads.map((tail) => ({ method: 'GET' as const, path: `${one}${tail}` })),
        { method: 'PUT' as const, path: one, body: { title: 'y' } },
        { method: 'DELETE' as const, path: one },
      ]);
    },
    untouched: async () => {
      const agent = by(cast.owner);
      return [
        (await agent.get(at(project, `/${own.id}`))).body,
        (await agent.get(at(null, `/${personal.id}`))).body,
      ] as unknown[];
    },
  });
});
