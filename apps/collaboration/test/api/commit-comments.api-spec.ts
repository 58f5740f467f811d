import type { Viewer } from '@rookery/kernel';
import { registerListPagingTests, registerParameterEncodingTests, registerRefusalOrderTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { commitPlace } from '../support/commented-commits';
import type { CommitPlace } from '../support/commented-commits';
import { gitIn } from '../support/commits-fixture';

/** Comments on commits. Source: reference repositories 4.6. */
let service: SeededService;
let place: CommitPlace;

beforeAll(async () => {
  service = await startCollaboration();
});
afterAll(() => service.close());
beforeEach(async () => void (place = await commitPlace(service)));

type Body = Record<string, unknown>;
const viewer = (name: keyof Cast): Viewer => service.seed.viewer(place.cast[name]);
const as = (name: keyof Cast) => service.app.as(viewer(name));
const anonymous = () => service.app.as(service.seed.anonymous());
const comments = (sha?: string): string => place.at('comments', sha);
const comment = async (params: Body, by: keyof Cast = 'guest'): Promise<Body> =>
  (await as(by).post(comments()).send(params).expect(201)).body as Body;
const listed = async (sha?: string): Promise<Body[]> =>
  (await anonymous().get(comments(sha)).expect(200)).body as Body[];
const rowsOf = (table: string): Promise<unknown[]> => service.database.query(`select * from ${table}`);

describe('a comment', () => {
  test('is written and listed with its author', async () => {
    const made = await comment({ note: 'Fine **twigs**' });
    expect(made).toEqual({
      note: 'Fine **twigs**',
      path: null,
      line: null,
      line_type: null,
      author: expect.objectContaining({ id: place.cast.guest.id, username: place.cast.guest.username }),
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    });
    expect(made['author']).not.toHaveProperty('email');
    await comment({ note: 'Second' }, 'stranger');
    expect(await listed()).toEqual([made, expect.objectContaining({ note: 'Second' })]);
  });

  test.each([
    ['an added line', { path: 'nest.txt', line: 10 }, { path: 'nest.txt', line: 10, line_type: 'new' }],
    [
      'a removed line',
      { path: 'nest.txt', line: 5, line_type: 'old' },
      { path: 'nest.txt', line: 5, line_type: 'old' },
    ],
    ['a line that is not added', { path: 'nest.txt', line: 2 }, { path: null, line: null, line_type: null }],
    ['a line that does not exist', { path: 'nest.txt', line: 4711 }, { path: null, line: null, line_type: null }],
    ['a line below 1', { path: 'nest.txt', line: -1 }, { path: null, line: null, line_type: null }],
    ['a file that did not change', { path: 'other.txt', line: 1 }, { path: null, line: null, line_type: null }],
    ['a strange path', { path: '../../etc/passwd', line: 1 }, { path: null, line: null, line_type: null }],
    ['an empty path', { path: '' }, { path: null, line: null, line_type: null }],
  ])('on %s', async (_, params, expected) => {
    const made = await comment({ note: 'Here', ...params });
    expect(made).toMatchObject({ note: 'Here', ...expected });
    expect(await listed()).toEqual([made]);
  });

  test('on a line of the first commit is compared with nothing', async () => {
    const sent = { note: 'First', path: 'nest.txt', line: 20 };
    const { body } = await as('guest').post(comments(place.root)).send(sent).expect(201);
    expect(body).toMatchObject({ path: 'nest.txt', line: 20, line_type: 'new' });
  });

  test('belongs to the commit that a branch, a tag or a short id names', async () => {
    gitIn(place.repository, ['branch', 'feature/x', place.root]);
    gitIn(place.repository, ['tag', 'v1', place.root]);
    for (const name of ['feature/x', 'v1', place.root.slice(0, 8), place.root])
      await as('guest').post(comments(name)).send({ note: name }).expect(201);
    const notes = (await listed('feature/x')).map(({ note }) => note);
    expect(notes).toEqual(['feature/x', 'v1', place.root.slice(0, 8), place.root]);
    expect(await listed(place.root)).toHaveLength(4);
    expect(await listed()).toEqual([]);
  });

  test('belongs to the commit in one project only', async () => {
    await comment({ note: 'Here' });
    const other = await commitPlace(service);
    gitIn(other.repository, ['fetch', '--quiet', place.repository.directory, 'main:copied']);
    expect((await anonymous().get(other.at('comments', place.tip)).expect(200)).body).toEqual([]);
  });

  test('keeps its commit when no branch reaches it', async () => {
    gitIn(place.repository, ['branch', 'gone', place.tip]);
    await comment({ note: 'Here' });
    expect(gitIn(place.repository, ['rev-parse', `refs/keep-around/${place.tip}`])).toBe(place.tip);
  });

  test('is found with the notes of discussions', async () => {
    const { body } = await as('guest').post(place.at('discussions')).send({ body: 'A thread' }).expect(201);
    const { id } = body as { id: string };
    await as('guest')
      .post(place.at(`discussions/${id}/notes`))
      .send({ body: 'A reply' })
      .expect(201);
    expect((await listed()).map(({ note }) => note)).toEqual(['A thread', 'A reply']);
  });
});

describe('refusals', () => {
  test.each([
    [{}, { error: 'note is missing' }],
    [{ note: 'x', path: 'nest.txt' }, { error: 'line is missing' }],
    [{ note: 'x', path: 'nest.txt', line: 'x' }, { error: 'line is invalid' }],
    [{ note: 'x', path: 'nest.txt', line: 1, line_type: 'both' }, { error: 'line_type does not have a valid value' }],
    [{ note: ' ' }, { message: `400 Bad request - Note {:note=>["can't be blank"]}` }],
  ])('%j is 400', async (params, expected) => {
    expect((await as('guest').post(comments()).send(params).expect(400)).body).toEqual(expected);
    expect(await listed()).toEqual([]);
    expect(await rowsOf(`discussed_commits where project_id = ${place.project.id}`)).toEqual([]);
  });

  test('an unknown commit is 404', async () => {
    for (const sha of ['nothing', 'f'.repeat(40), 'main^{tree}', '-x']) {
      const wanted = { message: '404 Commit Not Found' };
      expect((await as('guest').get(comments(sha)).expect(404)).body).toEqual(wanted);
      expect((await as('guest').post(comments(sha)).send({ note: 'x' }).expect(404)).body).toEqual(wanted);
    }
    expect(await rowsOf(`discussed_commits where project_id = ${place.project.id}`)).toEqual([]);
  });

  test('an archived project has no new comments', async () => {
    await comment({ note: 'x' });
    await service.seed.put('projects', { ...place.project, archived: true });
    const { body } = await as('owner').post(comments()).send({ note: 'x' }).expect(403);
    expect(body).toEqual({ message: '403 Forbidden' });
    expect(await listed()).toHaveLength(1);
  });

  test('a token that only reads is 403', async () => {
    const readOnly = service.app.as({ ...viewer('guest'), scopes: ['read_api'] });
    await readOnly.get(comments()).expect(200);
    await readOnly.post(comments()).send({ note: 'x' }).expect(403);
    // Comments are not code.
    const ofCode = service.app.as({ ...viewer('guest'), scopes: ['read_repository'] });
    await ofCode.get(comments()).expect(403);
  });

  test('the limit of notes per minute applies', async () => {
    await service.database.query(
      `insert into note_creations (user_id, window_started_at, notes_count) values ($1, now(), 300)`,
      [place.cast.guest.id],
    );
    const { body } = await as('guest').post(comments()).send({ note: 'x' }).expect(429);
    expect(body).toEqual({
      message: { error: expect.stringMatching(/^This endpoint has been requested too many times\. Try again later\./) },
    });
    expect(await listed()).toEqual([]);
  });
});

describe('a page', () => {
  let total: CommitPlace;
  beforeAll(async () => {
    total = await commitPlace(service);
    for (let index = 0; index < 5; index += 1)
      await service.app
        .as(service.seed.viewer(total.cast.guest))
        .post(total.at('comments'))
        .send({ note: `Note ${index}` })
        .expect(201);
  });
  registerListPagingTests(() => ({
    app: service.app,
    viewer: service.seed.viewer(total.cast.guest),
    path: total.at('comments'),
    rows: 5,
    key: ({ note }) => note,
  }));
});

describe('creating', () => {
  let shared: CommitPlace;
  beforeAll(async () => void (shared = await commitPlace(service, { visibility: 'private' })));
  registerRefusalOrderTests(
    () => service.app,
    () => ({
      method: 'POST',
      path: shared.at('comments'),
      good: { note: 'x' },
      bad: { note: 'x', line: 'x' },
      anonymous: service.seed.anonymous(),
      outsider: service.seed.viewer(shared.cast.stranger),
      reader: service.seed.viewer(shared.cast.guest),
      allowed: service.seed.viewer(shared.cast.reporter),
    }),
  );
  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: service.seed.viewer(shared.cast.reporter),
      method: 'POST',
      path: shared.at('comments'),
      params: { note: 'ü & "q"', path: 'nest.txt', line: 10, line_type: 'new' },
    }),
    seen: ({ note, path, line, line_type }) => ({ note, path, line, line_type }),
    expected: { note: 'ü & "q"', path: 'nest.txt', line: 10, line_type: 'new' },
  });
});
