import { EMPTY_TREE } from '@rookery/git';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
} from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { commitPlace } from '../support/commented-commits';
import type { CommitPlace } from '../support/commented-commits';

/** Discussions on commits. Source: reference work-tracking 3.1; reference repositories 4.6. */
let service: SeededService;
let place: CommitPlace;

beforeAll(async () => {
  service = await startCollaboration();
});
afterAll(() => service.close());
beforeEach(async () => void (place = await commitPlace(service)));

type Body = Record<string, unknown>;
type Note = Body & { readonly id: number };
interface Discussion {
  readonly id: string;
  readonly individual_note: boolean;
  readonly notes: readonly Note[];
}
const as = (name: keyof Cast) => service.app.as(service.seed.viewer(place.cast[name]));
const path = (tail = '', sha?: string): string => place.at(`discussions${tail}`, sha);
const thread = async (sent: Body = { body: 'First' }, by: keyof Cast = 'guest'): Promise<Discussion> =>
  (await as(by).post(path()).send(sent).expect(201)).body as Discussion;
const replyTo = async ({ id }: Discussion, body = 'Second', by: keyof Cast = 'stranger'): Promise<Note> =>
  (
    await as(by)
      .post(path(`/${id}/notes`))
      .send({ body })
      .expect(201)
  ).body as Note;
const listed = async (): Promise<Discussion[]> => (await as('guest').get(path()).expect(200)).body as Discussion[];

describe('a thread', () => {
  test('starts with one note, which names the commit by its type alone', async () => {
    const made = await thread();
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{40}$/),
      individual_note: false,
      notes: [
        {
          id: expect.any(Number),
          type: 'DiscussionNote',
          body: 'First',
          attachment: null,
          author: expect.objectContaining({ id: place.cast.guest.id }),
          created_at: expect.stringMatching(/Z$/),
          updated_at: expect.stringMatching(/Z$/),
          system: false,
          noteable_id: null,
          noteable_type: 'Commit',
          project_id: place.project.id,
          noteable_iid: null,
          resolvable: false,
          confidential: false,
          internal: false,
          imported: false,
          imported_from: 'none',
          commands_changes: {},
        },
      ],
    });
    expect(await listed()).toEqual([made]);
  });

  test('gets replies, which are shown, changed and deleted', async () => {
    const made = await thread();
    const answer = await replyTo(made);
    expect(answer).toMatchObject({
      body: 'Second',
      type: 'DiscussionNote',
      noteable_type: 'Commit',
      noteable_id: null,
    });
    const one = path(`/${made.id}/notes/${answer.id}`);
    const ids = [{ id: made.notes[0]!.id }, { id: answer.id }];
    expect(
      (
        await as('guest')
          .get(path(`/${made.id}`))
          .expect(200)
      ).body,
    ).toMatchObject({ id: made.id, notes: ids });
    expect(
      (
        await as('guest')
          .get(path(`/${made.id}/notes`))
          .expect(200)
      ).body,
    ).toMatchObject(ids);
    expect((await as('stranger').get(one).expect(200)).body).toEqual(answer);
    const { body: changed } = await as('stranger').put(one).send({ body: 'Changed' }).expect(200);
    expect(changed).toMatchObject({ id: answer.id, body: 'Changed' });
    await as('stranger').delete(one).expect(204);
    expect((await as('guest').get(one).expect(404)).body).toEqual({ message: '404 Not found' });
    await as('maintainer')
      .delete(path(`/${made.id}/notes/${made.notes[0]!.id}`))
      .expect(204);
    expect(
      (
        await as('guest')
          .get(path(`/${made.id}`))
          .expect(404)
      ).body,
    ).toEqual({
      message: '404 Discussion Not Found',
    });
    expect(await listed()).toEqual([]);
    for (const verb of ['created', 'updated', 'deleted'])
      expect((await eventsOf(service.database, `collaboration.note.${verb}.v1`)).at(-1)).toMatchObject({
        noteable_type: 'Commit',
        noteable_iid: null,
        project_id: place.project.id,
      });
  });

  test('belongs to its commit', async () => {
    const made = await thread();
    for (const tail of [`/${made.id}`, `/${made.id}/notes/${made.notes[0]!.id}`])
      expect((await as('guest').get(path(tail, place.root)).expect(404)).body).toEqual({
        message: '404 Discussion Not Found',
      });
    expect((await as('guest').get(path('', place.root)).expect(200)).body).toEqual([]);
    // The commit by other names.
    for (const name of ['main', place.tip.slice(0, 9), 'refs/heads/main'])
      expect((await as('guest').get(path('', name)).expect(200)).body).toEqual([made]);
  });

  test('cannot be resolved, and its notes are never internal', async () => {
    const made = await thread({ body: 'x', internal: true, confidential: true });
    expect(made.notes[0]).toMatchObject({ internal: false, confidential: false });
    const { body } = await as('owner')
      .put(path(`/${made.id}/notes/${made.notes[0]!.id}`))
      .send({ resolved: true })
      .expect(400);
    expect(body).toEqual({ message: '400 Bad request - Note is not resolvable' });
    const resolve = await as('owner')
      .put(path(`/${made.id}`))
      .send({ resolved: true })
      .expect(405);
    expect(resolve.body).toEqual({ error: '405 Not Allowed' });
  });

  test('is changed by its author and by maintainers, and deleted under a condition', async () => {
    const made = await thread();
    const one = path(`/${made.id}/notes/${made.notes[0]!.id}`);
    for (const who of ['developer', 'reporter', 'stranger'] as const)
      for (const method of ['put', 'delete'] as const) {
        const { body } = await as(who)[method](one).send({ body: 'y' }).expect(403);
        expect(body).toEqual({ message: '403 Forbidden' });
      }
    const stale = await as('guest').delete(one).set('If-Unmodified-Since', 'Wed, 01 Jan 2020 00:00:00 GMT').expect(412);
    expect(stale.body).toEqual({ message: '412 Precondition Failed' });
    await as('maintainer').put(one).send({ body: 'y' }).expect(200);
  });

  test('may be back-dated by owners', async () => {
    const created_at = '2020-02-03T04:05:06.789Z';
    expect((await thread({ body: 'x', created_at }, 'owner')).notes[0]).toMatchObject({ created_at });
    expect((await thread({ body: 'x', created_at }, 'maintainer')).notes[0]!['created_at']).not.toBe(created_at);
  });

  test('keeps words that are quick actions elsewhere', async () => {
    const body = '/close\n/todo\n/subscribe\n/label ~x';
    expect((await thread({ body })).notes[0]).toMatchObject({ body, commands_changes: {} });
  });

  test('does not take a comment as its start', async () => {
    await as('guest').post(place.at('comments')).send({ note: 'Alone' }).expect(201);
    const [alone] = await listed();
    expect(alone).toMatchObject({ individual_note: true, notes: [{ type: null, body: 'Alone' }] });
    const { body } = await as('owner')
      .post(path(`/${alone!.id}/notes`))
      .send({ body: 'x' })
      .expect(400);
    expect(body).toEqual({ message: '400 Bad request - Discussion can not be replied to.' });
  });

  test.each([
    ['post', {}, { error: 'body is missing' }],
    ['post', { body: ' ' }, { message: `400 Bad request - Note {:note=>["can't be blank"]}` }],
    ['put', {}, { error: 'body, resolved are missing, exactly one parameter must be provided' }],
    ['put', { body: '' }, { error: 'body is empty' }],
    ['put', { body: 'x', resolved: true }, { error: 'body, resolved are mutually exclusive' }],
  ] as const)('%s of %j is refused', async (method, sent, expected) => {
    const made = await thread();
    const at = method === 'post' ? path() : path(`/${made.id}/notes/${made.notes[0]!.id}`);
    expect((await as('guest')[method](at).send(sent).expect(400)).body).toEqual(expected);
  });

  test('of an unknown commit is 404', async () => {
    const wanted = { message: '404 Commit Not Found' };
    for (const sha of ['nothing', 'f'.repeat(40)]) {
      expect((await as('guest').get(path('', sha)).expect(404)).body).toEqual(wanted);
      expect((await as('guest').post(path('', sha)).send({ body: 'x' }).expect(404)).body).toEqual(wanted);
    }
  });

  test('is read, but not written in an archived project', async () => {
    const made = await thread();
    await service.seed.put('projects', { ...place.project, archived: true });
    expect(await listed()).toEqual([made]);
    const one = path(`/${made.id}/notes/${made.notes[0]!.id}`);
    for (const request of [
      as('owner').post(path()).send({ body: 'x' }),
      as('owner')
        .post(path(`/${made.id}/notes`))
        .send({ body: 'x' }),
      as('owner').put(one).send({ body: 'x' }),
      as('owner').delete(one),
    ])
      expect((await request.expect(403)).body).toEqual({ message: '403 Forbidden' });
  });
});

describe('a position', () => {
  const refs = () => ({ base_sha: place.root, start_sha: place.root, head_sha: place.tip });
  const positionAt = (fields: Body): Body => ({ ...refs(), position_type: 'text', ...fields });
  const start = (position: Body) => as('guest').post(path()).send({ body: 'Here', position });
  const LINE_CODE = {
    message: `400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"]}`,
  };

  test.each([
    ['an added line', { new_path: 'nest.txt', new_line: 10 }],
    ['a removed line', { old_path: 'nest.txt', old_line: 5 }],
    ['an unchanged line', { new_path: 'nest.txt', old_path: 'nest.txt', old_line: 2, new_line: 2 }],
    ['a line of a renamed file', { old_path: 'old.txt', new_path: 'new.txt', old_line: 3, new_line: 3 }],
  ])('at %s starts a diff thread', async (_, fields) => {
    const { body } = await start(positionAt(fields)).expect(201);
    const [first] = (body as Discussion).notes;
    const lines = { old_path: null, new_path: null, old_line: null, new_line: null, line_range: null };
    expect(first).toMatchObject({ type: 'DiffNote', resolvable: false });
    expect(first!['position']).toEqual({ ...lines, ...positionAt(fields) });
    for (const key of ['commit_id', 'suggestions', 'resolved']) expect(first).not.toHaveProperty(key);
    const answer = await replyTo(body as Discussion);
    expect(answer).toMatchObject({ type: 'DiffNote', position: first!['position'] });
  });

  test('is shown in the list of comments, also for replies', async () => {
    const { body } = await start(positionAt({ old_path: 'nest.txt', old_line: 5 })).expect(201);
    await replyTo(body as Discussion);
    const { body: comments } = await as('guest').get(place.at('comments')).expect(200);
    const at = { path: 'nest.txt', line: 5, line_type: 'old' };
    expect(comments).toMatchObject([
      { note: 'Here', ...at },
      { note: 'Second', ...at },
    ]);
    const unchanged = { new_path: 'nest.txt', old_line: 2, new_line: 2 };
    await start(positionAt(unchanged)).expect(201);
    await start(positionAt({ position_type: 'file', new_path: 'nest.txt' })).expect(201);
    const { body: all } = await as('guest').get(place.at('comments')).expect(200);
    expect(all[2]).toMatchObject({ path: 'nest.txt', line: 2, line_type: null });
    expect(all[3]).toMatchObject({ path: 'nest.txt', line: null, line_type: null });
  });

  test('in the first commit is compared with the empty tree', async () => {
    const of = { base_sha: EMPTY_TREE, start_sha: EMPTY_TREE, head_sha: place.root };
    const position = { ...of, position_type: 'text', new_path: 'nest.txt', new_line: 20 };
    const { body } = await as('guest').post(path('', place.root)).send({ body: 'x', position }).expect(201);
    expect((body as Discussion).notes[0]).toMatchObject({ type: 'DiffNote', position });
  });

  test.each([
    ['a line that the diff does not have', { new_path: 'nest.txt', new_line: 2 }, LINE_CODE],
    ['a line after the end', { new_path: 'nest.txt', old_line: 90, new_line: 90 }, LINE_CODE],
    ['a file that did not change', { new_path: 'other.txt', new_line: 1 }, LINE_CODE],
    ['no line', { new_path: 'nest.txt' }, LINE_CODE],
    ['no file', { new_line: 1 }, LINE_CODE],
    ['a wrong type', { position_type: 'x' }, { error: 'position[position_type] does not have a valid value' }],
  ])('with %s is 400', async (_, fields, expected) => {
    expect((await start(positionAt(fields)).expect(400)).body).toEqual(expected);
    expect(await listed()).toEqual([]);
  });

  test('needs the commits of this diff', async () => {
    const fields = { position_type: 'text', new_path: 'nest.txt', new_line: 10 };
    const wanted = { message: '400 Bad request - Note {:commit_id=>["does not match the diff refs"]}' };
    for (const over of [
      { head_sha: place.root },
      { base_sha: EMPTY_TREE },
      { start_sha: place.tip },
      { head_sha: place.tip.slice(0, 10) },
      { base_sha: '--output=x' },
    ])
      expect((await start({ ...refs(), ...fields, ...over }).expect(400)).body).toEqual(wanted);
    const { body } = await start({ head_sha: place.tip, ...fields }).expect(400);
    expect(body).toEqual({ error: 'position[base_sha] is missing, position[start_sha] is missing' });
  });
});

describe('the list', () => {
  let full: CommitPlace;
  beforeAll(async () => {
    full = await commitPlace(service);
    for (let index = 0; index < 5; index += 1) {
      const by = service.app.as(service.seed.viewer(full.cast.guest));
      const { body } = await by
        .post(full.at('discussions'))
        .send({ body: `Thread ${index}` })
        .expect(201);
      await by
        .post(full.at(`discussions/${(body as Discussion).id}/notes`))
        .send({ body: 'Reply' })
        .expect(201);
    }
  });
  registerListPagingTests(() => ({
    app: service.app,
    viewer: service.seed.viewer(full.cast.guest),
    path: full.at('discussions'),
    rows: 5,
  }));
});

describe('starting', () => {
  let hidden: CommitPlace;
  beforeAll(async () => void (hidden = await commitPlace(service, { visibility: 'private' })));
  registerRefusalOrderTests(
    () => service.app,
    () => ({
      method: 'POST',
      path: hidden.at('discussions'),
      good: { body: 'x' },
      bad: {},
      anonymous: service.seed.anonymous(),
      outsider: service.seed.viewer(hidden.cast.stranger),
      reader: service.seed.viewer(hidden.cast.guest),
      allowed: service.seed.viewer(hidden.cast.reporter),
    }),
  );
  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: service.seed.viewer(hidden.cast.reporter),
      method: 'POST',
      path: hidden.at('discussions'),
      params: {
        body: 'ü & "q"',
        position: {
          ...{ base_sha: hidden.root, start_sha: hidden.root, head_sha: hidden.tip, position_type: 'text' },
          ...{ new_path: 'nest.txt', new_line: 10 },
        },
      },
    }),
    seen: (body) => {
      const [first] = (body as unknown as Discussion).notes;
      return [first!.body, (first!['position'] as Body)['new_line']];
    },
    expected: ['ü & "q"', 10],
  });
});

describe('a discussion of another project', () => {
  registerForeignParentTests({
    app: () => service.app,
    viewer: () => service.seed.viewer(place.cast.owner),
    requests: async () => {
      const other = await commitPlace(service);
      const by = service.app.as(service.seed.viewer(other.cast.guest));
      const { body } = await by.post(other.at('discussions')).send({ body: 'x' }).expect(201);
      const { id, notes } = body as Discussion;
      await thread();
      const one = `/${id}/notes/${notes[0]!.id}`;
      return [
        { method: 'GET', path: path(`/${id}`) },
        { method: 'GET', path: path(`/${id}/notes`) },
        { method: 'POST', path: path(`/${id}/notes`), body: { body: 'x' } },
        { method: 'GET', path: path(one) },
        { method: 'PUT', path: path(one), body: { body: 'y' } },
        { method: 'DELETE', path: path(one) },
      ];
    },
  });
});
