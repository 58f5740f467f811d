import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer, Visibility } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  startNats,
  until,
  registerVisibilityTests,
} from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser, RoleCase } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { snippetActions } from '../support/snippet-actions';
import type { ShownSnippet } from '../support/snippet-actions';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let worker: Worker;
let project: DirectoryProject;
let cast: Cast;
let snippet: ShownSnippet;

const { by, at, made } = snippetActions(() => service);
beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  smtp = await startMailServer();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env: { SMTP_URL: smtp.url } });
});
afterAll(async () => {
  await worker.stop();
  await smtp.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
  snippet = await made(cast.reporter, project, { title: 'A nest', visibility: 'public', description: 'of twigs' });
});

type Body = Record<string, unknown>;
type Note = Body & { readonly id: number };
interface Discussion {
  readonly id: string;
  readonly individual_note: boolean;
  readonly notes: readonly Note[];
}
const snippetPath = (tail = ''): string => at(project, `/${snippet.id}${tail}`);
const comment = async (who: SeededUser, body: string, over: Body = {}): Promise<Note> =>
  (
    await by(who)
      .post(snippetPath('/notes'))
      .send({ body, ...over })
      .expect(201)
  ).body as Note;
const thread = async (who: SeededUser, body: string): Promise<Discussion> =>
  (await by(who).post(snippetPath('/discussions')).send({ body }).expect(201)).body as Discussion;
const countOf = async (table: string, type = 'noteable'): Promise<number> =>
  (
    await service.database.query<{ n: number }>(
      `select count(*)::int as n from ${table} where ${type}_type = 'Snippet' and ${type}_id = $1`,
      [snippet.id],
    )
  )[0]!.n;

describe('a note', () => {
  test('is created, shown, changed and deleted', async () => {
    const note = await comment(cast.guest, 'Fine **twigs**');
    expect(note).toEqual({
      id: expect.any(Number),
      type: null,
      body: 'Fine **twigs**',
      attachment: null,
      author: expect.objectContaining({ id: cast.guest.id, username: cast.guest.username }),
      created_at: expect.stringMatching(/Z$/),
      updated_at: note['created_at'],
      system: false,
      noteable_id: snippet.id,
      noteable_type: 'Snippet',
      project_id: project.id,
      noteable_iid: null,
      resolvable: false,
      confidential: false,
      internal: false,
      imported: false,
      imported_from: 'none',
      commands_changes: {},
    });
    const path = snippetPath(`/notes/${note.id}`);
    expect((await by(cast.guest).get(path).expect(200)).body).toEqual(note);
    expect((await by(cast.guest).get(snippetPath('/notes')).expect(200)).body).toEqual([note]);
    expect((await by(cast.stranger).get(snippetPath('/notes')).expect(200)).body).toMatchObject([{ id: note.id }]);
    const { body: changed } = await by(cast.guest).put(path).send({ body: 'Dry twigs' }).expect(200);
    expect(changed).toMatchObject({ id: note.id, body: 'Dry twigs' });
    await by(cast.maintainer).delete(path).expect(204);
    expect((await by(cast.guest).get(path).expect(404)).body).toEqual({ message: '404 Not found' });
    const target = { note_id: note.id, noteable_type: 'Snippet', noteable_id: snippet.id, noteable_iid: null };
    for (const verb of ['created', 'updated', 'deleted']) {
      expect((await eventsOf(service.database, `collaboration.note.${verb}.v1`)).at(-1)).toMatchObject(target);
    }
  });

  test('is never internal, even if requested', async () => {
    const note = await comment(cast.guest, 'x', { internal: true, confidential: true });
    expect(note).toMatchObject({ internal: false, confidential: false });
    const path = snippetPath(`/notes/${note.id}`);
    for (const sent of [{}, { confidential: true }]) {
      expect((await by(cast.guest).put(path).send(sent).expect(400)).body).toEqual({ error: 'body is missing' });
    }
    const reply = await thread(cast.guest, 'x');
    const answer = await by(cast.guest)
      .post(snippetPath(`/discussions/${reply.id}/notes`))
      .send({ body: 'x', internal: true })
      .expect(201);
    expect(answer.body).toMatchObject({ internal: false });
  });

  test.each([
    ['post', { body: ' ' }, { message: `400 Bad request - Note {:note=>["can't be blank"]}` }],
    ['post', {}, { error: 'body is missing' }],
    ['put', { body: '' }, { error: 'body is empty' }],
  ] as const)('%s of %j is refused', async (method, sent, expected) => {
    const { id } = await comment(cast.guest, 'x');
    const path = snippetPath(method === 'post' ? '/notes' : `/notes/${id}`);
    expect((await by(cast.guest)[method](path).send(sent).expect(400)).body).toEqual(expected);
  });

  test('is changed and deleted by its author and by maintainers', async () => {
    const { id } = await comment(cast.guest, 'x');
    for (const who of [cast.developer, cast.reporter, cast.stranger]) {
      for (const method of ['put', 'delete'] as const) {
        const { body } = await by(who)
          [method](snippetPath(`/notes/${id}`))
          .send({ body: 'y' })
          .expect(403);
        expect(body).toEqual({ message: '403 Forbidden' });
      }
    }
    const stale = await by(cast.guest)
      .delete(snippetPath(`/notes/${id}`))
      .set('If-Unmodified-Since', 'Wed, 01 Jan 2020 00:00:00 GMT')
      .expect(412);
    expect(stale.body).toEqual({ message: '412 Precondition Failed' });
    await by(cast.maintainer)
      .put(snippetPath(`/notes/${id}`))
      .send({ body: 'y' })
      .expect(200);
  });

  test('is for users who can see the snippet, and cannot be written in an archived project', async () => {
    const hidden = await made(cast.reporter, project);
    const notes = at(project, `/${hidden.id}/notes`);
    for (const who of [cast.stranger, cast.external]) {
      for (const request of [by(who).get(notes), by(who).post(notes).send({ body: 'x' })]) {
        expect((await request.expect(404)).body).toEqual({ message: '404 Snippet Not Found' });
      }
    }
    await by(cast.guest).post(notes).send({ body: 'x' }).expect(201);
    const personal = await made(cast.owner, null, { visibility: 'public' });
    await by(cast.owner)
      .get(at(project, `/${personal.id}/notes`))
      .expect(404);
    expect((await by(cast.owner).get(`/api/v4/snippets/${personal.id}/notes`).expect(404)).body).toEqual({
      error: '404 Not Found',
    });
    await service.seed.put('projects', { ...project, archived: true });
    await by(cast.owner).post(notes).send({ body: 'x' }).expect(403);
  });

  test('on an internal snippet is for signed-in users, except external ones', async () => {
    snippet = await made(cast.reporter, project, { visibility: 'internal' });
    await by(cast.stranger).post(snippetPath('/notes')).send({ body: 'x' }).expect(201);
    await by(cast.external).get(snippetPath('/notes')).expect(404);
    expect((await by(null).get(snippetPath('/award_emoji')).expect(404)).body).toEqual({
      message: '404 Snippet Not Found',
    });
  });
});

describe('a discussion', () => {
  test('accepts replies, edits and deletions, and cannot be resolved', async () => {
    const made = await thread(cast.guest, 'First');
    expect(made).toMatchObject({
      individual_note: false,
      notes: [{ type: 'DiscussionNote', resolvable: false, body: 'First' }],
    });
    const path = snippetPath(`/discussions/${made.id}`);
    const { body } = await by(cast.stranger).post(`${path}/notes`).send({ body: 'Second' }).expect(201);
    const answer = body as Note;
    expect(answer).toMatchObject({ type: 'DiscussionNote', noteable_type: 'Snippet', noteable_id: snippet.id });
    const ids = [{ id: made.notes[0]!.id }, { id: answer.id }];
    expect((await by(cast.guest).get(path).expect(200)).body).toMatchObject({ id: made.id, notes: ids });
    expect((await by(cast.guest).get(snippetPath('/discussions')).expect(200)).body).toHaveLength(1);
    expect((await by(cast.guest).get(`${path}/notes`).expect(200)).body).toMatchObject(ids);
    expect((await by(cast.stranger).get(`${path}/notes/${answer.id}`).expect(200)).body).toEqual(answer);
    const put = (sent: Body) => by(cast.stranger).put(`${path}/notes/${answer.id}`).send(sent);
    expect((await put({ body: 'Changed' }).expect(200)).body).toMatchObject({ body: 'Changed' });
    expect((await put({ resolved: true }).expect(400)).body).toEqual({
      message: '400 Bad request - Note is not resolvable',
    });
    expect((await by(cast.owner).put(path).send({ resolved: true }).expect(405)).body).toEqual({
      error: '405 Not Allowed',
    });
    await by(cast.stranger).delete(`${path}/notes/${answer.id}`).expect(204);
    await by(cast.guest).delete(`${path}/notes/${made.notes[0]!.id}`).expect(204);
    expect((await by(cast.guest).get(path).expect(404)).body).toEqual({ message: '404 Discussion Not Found' });
  });

  test('of an individual note accepts no replies', async () => {
    await comment(cast.guest, 'Alone');
    const [alone] = (await by(cast.guest).get(snippetPath('/discussions')).expect(200)).body as Discussion[];
    expect(alone).toMatchObject({ individual_note: true });
    const { body } = await by(cast.owner)
      .post(snippetPath(`/discussions/${alone!.id}/notes`))
      .send({ body: 'x' })
      .expect(400);
    expect(body).toEqual({ message: '400 Bad request - Discussion can not be replied to.' });
  });
});

describe('an emoji', () => {
  const give = (who: SeededUser, path: string, name = 'rocket') => by(who).post(path).send({ name });

  test.each(['the snippet', 'a note on it'])('is awarded to %s, shown to all, and removed', async (what) => {
    const note = await comment(cast.guest, 'x');
    const path = snippetPath(what === 'the snippet' ? '/award_emoji' : `/notes/${note.id}/award_emoji`);
    const { body } = await give(cast.guest, path).expect(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'rocket',
      user: expect.objectContaining({ id: cast.guest.id }),
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      awardable_id: what === 'the snippet' ? snippet.id : note.id,
      awardable_type: what === 'the snippet' ? 'Snippet' : 'Note',
      url: null,
    });
    const one = `${path}/${(body as Note).id}`;
    expect((await by(null).get(path).expect(200)).body).toEqual([body]);
    expect((await by(null).get(one).expect(200)).body).toEqual(body);
    expect((await give(cast.guest, path).expect(404)).body).toEqual({
      message: '404 Award Emoji Name has already been taken Not Found',
    });
    await give(cast.stranger, path, 'thumbsup').expect(201);
    expect((await by(cast.owner).delete(one).expect(401)).body).toEqual({ message: '401 Unauthorized' });
    await by(cast.guest).delete(one).expect(204);
    expect((await by(null).get(path).expect(200)).body).toHaveLength(1);
    expect((await by(null).post(path).send({ name: 'x' }).expect(401)).body).toEqual({ message: '401 Unauthorized' });
  });
});

describe('effects', () => {
  const settled = async (): Promise<void> => {
    await worker.drained();
    const queued = `select 1 from mails where state = 'queued' limit 1`;
    await until(async () => (await service.database.query(queued)).length === 0, 'an empty queue');
  };
  const names = (...people: SeededUser[]) => people.map(({ username }) => username).sort();

  test('participants get e-mails about a comment, with the wording of snippets', async () => {
    await settled();
    smtp.mails.length = 0;
    const note = await comment(cast.guest, `Look, @${cast.developer.username} and @${cast.stranger.username}!`);
    await settled();
    expect(smtp.recipients()).toEqual(names(cast.reporter, cast.developer, cast.stranger));
    const mail = smtp.mails.find(({ to }) => to === cast.reporter.notification_email)!;
    expect(mail.parsed.subject).toMatch(new RegExp(`^Re: .* \\| A nest \\(\\$${snippet.id}\\)$`));
    expect(mail.parsed.text).toContain(`commented on snippet $${snippet.id}: A nest`);
    expect(mail.parsed.text).toContain(`/-/snippets/${snippet.id}#note_${note.id}`);
    expect(mail.parsed.messageId).toMatch(new RegExp(`^<note_${note.id}\\.[0-9a-f]{20}@`));
    expect(mail.parsed.inReplyTo).toMatch(new RegExp(`^<snippet_${snippet.id}@`));
    expect(mail.parsed.headers.get('x-platform-snippet-id')).toBe(String(snippet.id));
    expect(mail.parsed.headers.has('x-platform-snippet-iid')).toBe(false);
    expect(mail.parsed.headers.has('x-platform-confidentialsnippet')).toBe(false);
    smtp.mails.length = 0;
    await comment(cast.reporter, 'So it is.');
    await settled();
    expect(smtp.recipients()).toEqual(names(cast.guest, cast.developer, cast.stranger));
  });

  test('users who cannot see the snippet get no e-mails', async () => {
    snippet = await made(cast.reporter, project);
    await settled();
    smtp.mails.length = 0;
    await comment(cast.guest, `@${cast.stranger.username} @${cast.external.username} @${cast.developer.username}`);
    await settled();
    expect(smtp.recipients()).toEqual(names(cast.reporter, cast.developer));
  });

  test('creating, changing and deleting a snippet causes no e-mails and to-dos', async () => {
    await settled();
    smtp.mails.length = 0;
    const mention = `@${cast.developer.username}`;
    const other = await made(cast.reporter, project, { visibility: 'public', description: mention });
    await by(cast.reporter)
      .put(at(project, `/${other.id}`))
      .send({ description: `${mention} @${cast.guest.username}` })
      .expect(200);
    await by(cast.reporter)
      .delete(at(project, `/${other.id}`))
      .expect(204);
    await settled();
    expect(smtp.recipients()).toEqual([]);
    await comment(cast.owner, mention);
    await worker.drained();
    for (const who of [cast.developer, cast.reporter]) {
      expect((await by(who).get('/api/v4/todos').expect(200)).body).toEqual([]);
    }
  });

  test('feeds show comments to users who can see the snippet', async () => {
    snippet = await made(cast.reporter, project, { title: 'A nest', visibility: 'internal' });
    const note = await comment(cast.guest, 'A word');
    await thread(cast.guest, 'Another');
    await worker.drained();
    const feed = async (who: SeededUser | null, query: Body = {}): Promise<Body[]> =>
      (await by(who).get(`/api/v4/projects/${project.id}/events`).query(query).expect(200)).body as Body[];
    const [later, entry] = await feed(cast.stranger);
    expect(later).toMatchObject({ action_name: 'commented on', target_type: 'DiscussionNote' });
    expect(entry).toMatchObject({
      action_name: 'commented on',
      target_type: 'Note',
      target_id: note.id,
      target_iid: note.id,
      target_title: 'A nest',
      note: { id: note.id, noteable_type: 'Snippet', noteable_iid: null, resolvable: false },
    });
    expect(await feed(cast.stranger, { target_type: 'snippet' })).toEqual([]);
    expect([await feed(cast.external), await feed(null)]).toEqual([[], []]);
    await by(cast.guest)
      .delete(snippetPath(`/notes/${note.id}`))
      .expect(204);
    await worker.drained();
    expect(await feed(cast.stranger)).toHaveLength(1);
  });

  test('notes and awards are deleted with the snippet', async () => {
    const note = await comment(cast.guest, 'A word');
    await thread(cast.developer, 'Another');
    for (const tail of ['/award_emoji', `/notes/${note.id}/award_emoji`]) {
      await by(cast.guest).post(snippetPath(tail)).send({ name: 'rocket' }).expect(201);
    }
    await worker.drained();
    const all = ['notes', 'activity_events', 'participants', 'award_emoji'];
    const left = () => Promise.all(all.map((table) => countOf(table)));
    expect(await left()).toEqual([2, 2, 2, 2]);
    await by(cast.maintainer).delete(snippetPath()).expect(204);
    await worker.drained();
    expect(await left()).toEqual([0, 0, 0, 0]);
  });
});

describe('shared suites', () => {
  let here: DirectoryProject;
  let owner: Viewer;
  let home: string;
  let noteId: number;
  let discussionId: string;
  beforeAll(async () => {
    here = await service.seed.project({ visibility: 'private' });
    const user = await service.seed.user();
    await service.seed.member(user, here, 'owner');
    home = at(here, `/${(await made(user, here)).id}`);
    for (let n = 0; n < 7; n++) {
      const { body } = await by(user)
        .post(`${home}/discussions`)
        .send({ body: `${n}` })
        .expect(201);
      ({ id: discussionId } = body as Discussion);
      noteId = (body as Discussion).notes[0]!.id;
    }
    owner = service.seed.viewer(user);
  });
  beforeEach(() => void (owner = { ...owner, directory: service.seed.anonymous().directory }));

  describe('the list of notes', () => {
    registerListPagingTests(() => ({
      app: service.app,
      viewer: owner,
      path: `${home}/notes`,
      query: { sort: 'asc' },
      rows: 7,
    }));
    const places = new Map<Visibility, Promise<{ project: DirectoryProject; id: number }>>();
    const place = async (level: Visibility) => {
      const there = await service.seed.project({ visibility: level });
      const admin = await service.seed.user({ admin: true });
      return { project: there, id: (await made(admin, there, { visibility: 'public' })).id };
    };
    registerVisibilityTests({
      app: () => service.app,
      anonymous: 401,
      from: async (level: Visibility, standing: RoleCase) => {
        if (!places.has(level)) places.set(level, place(level));
        const { project: there, id } = await places.get(level)!;
        const path = at(there, `/${id}/notes`);
        if (standing === 'anonymous') return { viewer: service.seed.anonymous(), path };
        const user = await service.seed.user({ admin: standing === 'admin', external: standing === 'external' });
        const isMember = !['admin', 'external', 'outsider'].includes(standing);
        if (isMember) await service.seed.member(user, there, standing as 'guest');
        return { viewer: service.seed.viewer(user), path };
      },
    });
  });

  describe('the list of discussions', () => {
    registerListPagingTests(() => ({ app: service.app, viewer: owner, path: `${home}/discussions`, rows: 7 }));
  });

  describe.each(['notes', 'discussions'])('adding to %s', (what) => {
    registerRefusalOrderTests(
      () => service.app,
      async () => ({
        method: 'POST',
        path: `${home}/${what}`,
        good: { body: 'x' },
        bad: {},
        anonymous: service.seed.anonymous(),
        outsider: service.seed.viewer(await service.seed.user()),
        allowed: { ...owner, directory: service.seed.anonymous().directory },
      }),
    );
    registerParameterEncodingTests({
      app: () => service.app,
      to: () => ({ viewer: owner, method: 'POST', path: `${home}/${what}`, params: { body: 'a + b & c' } }),
      seen: (body) => body['body'] ?? (body['notes'] as Note[])[0]!['body'],
      expected: 'a + b & c',
    });
  });

  describe('a note and a discussion', () => {
    registerForeignParentTests({
      app: () => service.app,
      viewer: () => owner,
      requests: async () => {
        const other = await service.seed.project();
        const there = await made(await service.seed.user({ admin: true }), other, { visibility: 'public' });
        await service.seed.member({ id: owner.userId! }, other, 'owner');
        owner = { ...owner, directory: service.seed.anonymous().directory };
        const elsewhere = at(other, `/${there.id}`);
        return [`/notes/${noteId}`, `/discussions/${discussionId}/notes/${noteId}`].flatMap((tail) => [
          { method: 'GET' as const, path: `${elsewhere}${tail}` },
          { method: 'PUT' as const, path: `${elsewhere}${tail}`, body: { body: 'y' } },
          { method: 'DELETE' as const, path: `${elsewhere}${tail}` },
          { method: 'GET' as const, path: `${elsewhere}/discussions/${discussionId}` },
          { method: 'POST' as const, path: `${elsewhere}/notes/${noteId}/award_emoji`, body: { name: 'rocket' } },
        ]);
      },
      untouched: async () => (await service.app.as(owner).get(`${home}/notes/${noteId}`)).body as unknown,
    });
  });
});
