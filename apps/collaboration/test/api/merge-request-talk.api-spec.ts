import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { insertMergeRequestRow } from '../support/merge-request-rows';

/** Routes below a merge request: notes, threads, emoji, to-dos, subscriptions, times and resource events. */
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
beforeEach(async () => {
  const { iid } = await insertMergeRequestRow(service, project, { author_id: cast.developer.id });
  path = `/api/v4/projects/${project.id}/merge_requests/${iid}`;
});

type ShownResource = Record<string, unknown> & { readonly id: number };
const as = (name: keyof Cast) => service.app.as(service.seed.viewer(cast[name]));
const post = async (name: keyof Cast, tail: string, body: Record<string, unknown> = {}, status = 201) =>
  (await as(name).post(`${path}/${tail}`).send(body).expect(status)).body as ShownResource;
const get = async (tail: string, name: keyof Cast = 'guest') =>
  (await as(name).get(`${path}/${tail}`).expect(200)).body as ShownResource;

test('notes are written, listed, shown, changed and deleted', async () => {
  const note = await post('guest', 'notes', { body: 'A word' });
  expect(note).toMatchObject({ noteable_type: 'MergeRequest', project_id: project.id, body: 'A word' });
  await post('reporter', 'notes', { body: 'Between us', internal: true });
  expect(await get('notes')).toMatchObject([{ id: note.id }]);
  expect(await get('notes', 'reporter')).toHaveLength(2);
  expect(await get(`notes/${note.id}`)).toMatchObject({ body: 'A word' });
  const changed = await as('guest').put(`${path}/notes/${note.id}`).send({ body: 'Another' }).expect(200);
  expect(changed.body).toMatchObject({ body: 'Another' });
  expect((await as('guest').get(path)).body).toMatchObject({ user_notes_count: 1 });
  await as('guest').delete(`${path}/notes/${note.id}`).expect(204);
  expect((await as('guest').get(`${path}/notes/${note.id}`).expect(404)).body).toEqual({ message: '404 Not found' });
  expect(
    (await as('guest').get(`/api/v4/projects/${project.id}/merge_requests/999999/notes`).expect(404)).body,
  ).toEqual({ message: '404 Not found' });
});

test('an edit publishes the users whom the previous text mentioned, members of groups included', async () => {
  const [group, member] = [await service.seed.group(), await service.seed.user()];
  await service.seed.member(member, group, 'guest');
  const description = `@${group.full_path} and @${cast.guest.username}`;
  for (const text of [description, 'x']) await as('developer').put(path).send({ description: text }).expect(200);
  const events = await eventsOf(service.database, 'collaboration.merge_request.updated.v1');
  const [first, second] = events.slice(-2);
  expect(first).toMatchObject({ text_changed: true, mentioned_before: [] });
  expect(second).toMatchObject({ text_changed: true, mentioned_before: [cast.guest.id, member.id] });
});

test('threads take answers, and are resolved', async () => {
  const thread = (await post('guest', 'discussions', { body: 'Why?' })) as unknown as {
    id: string;
    notes: ShownResource[];
  };
  const at = `discussions/${thread.id}`;
  const reply = await post('developer', `${at}/notes`, { body: 'Because.' });
  expect(reply).toMatchObject({ type: 'DiscussionNote', noteable_type: 'MergeRequest' });
  expect(await get('discussions')).toMatchObject([{ id: thread.id }]);
  expect(await get(at)).toMatchObject({ notes: [{ body: 'Why?' }, { body: 'Because.' }] });
  expect(await get(`${at}/notes`)).toHaveLength(2);
  expect(await get(`${at}/notes/${reply.id}`)).toMatchObject({ body: 'Because.' });
  const edited = await as('developer').put(`${path}/${at}/notes/${reply.id}`).send({ body: 'Thus.' }).expect(200);
  expect(edited.body).toMatchObject({ body: 'Thus.' });
  const resolved = await as('developer').put(`${path}/${at}`).send({ resolved: true }).expect(200);
  expect(resolved.body).toMatchObject({ notes: [{ resolved: true }, { resolved: true }] });
  await as('developer').delete(`${path}/${at}/notes/${reply.id}`).expect(204);
});

test('it and its notes take emoji', async () => {
  const award = await post('guest', 'award_emoji', { name: 'thumbsup' });
  expect(award).toMatchObject({ awardable_type: 'MergeRequest', name: 'thumbsup' });
  expect(await get('award_emoji')).toMatchObject([{ id: award.id }]);
  expect(await get(`award_emoji/${award.id}`)).toMatchObject({ name: 'thumbsup' });
  expect((await as('guest').get(path)).body).toMatchObject({ upvotes: 1 });
  await as('guest').delete(`${path}/award_emoji/${award.id}`).expect(204);
  const note = await post('guest', 'notes', { body: 'A word' });
  const at = `notes/${note.id}/award_emoji`;
  const ofNote = await post('guest', at, { name: 'rocket' });
  expect(await get(at)).toMatchObject([{ id: ofNote.id, awardable_type: 'Note' }]);
  expect(await get(`${at}/${ofNote.id}`)).toMatchObject({ name: 'rocket' });
  await as('guest').delete(`${path}/${at}/${ofNote.id}`).expect(204);
});

test('users subscribe, take part and mark it as to-do', async () => {
  expect(await post('guest', 'subscribe')).toMatchObject({ subscribed: true, user: { can_merge: false } });
  await as('guest').post(`${path}/subscribe`).expect(304);
  expect(await post('guest', 'unsubscribe')).toMatchObject({ subscribed: false });
  expect(await post('guest', 'todo')).toMatchObject({
    action_name: 'marked',
    target_type: 'MergeRequest',
    target: { project_id: project.id },
  });
  await as('guest').post(`${path}/todo`).expect(304);
  await as('developer')
    .put(path)
    .send({ reviewer_ids: [cast.reporter.id], assignee_id: cast.owner.id })
    .expect(200);
  const people = (await get('participants')) as unknown as ShownResource[];
  expect(people.map(({ id }) => id)).toEqual(
    [cast.developer.id, cast.reporter.id, cast.owner.id].sort((a, b) => a - b),
  );
  const counts = await as('reporter').get('/api/v4/user_counts').expect(200);
  expect(counts.body).toMatchObject({ review_requested_merge_requests: 1, assigned_merge_requests: 0 });
});

test('times are tracked', async () => {
  expect(await post('developer', 'time_estimate', { duration: '3h' }, 200)).toMatchObject({ time_estimate: 10_800 });
  expect(await post('developer', 'add_spent_time', { duration: '1h' })).toMatchObject({ total_time_spent: 3600 });
  expect(await get('time_stats')).toMatchObject({ human_time_estimate: '3h', human_total_time_spent: '1h' });
  expect(await post('developer', 'reset_spent_time', {}, 200)).toMatchObject({ total_time_spent: 0 });
  expect(await post('developer', 'reset_time_estimate', {}, 200)).toMatchObject({ time_estimate: 0 });
});

test('labels, milestones and states leave events', async () => {
  const [milestone] = await service.database.query<{ id: number }>(
    `insert into milestones (project_id, iid, title) values ($1, (select count(*) + 1 from milestones), 'v' || now())
     returning id`,
    [project.id],
  );
  const put = (body: Record<string, unknown>) => as('developer').put(path).send(body).expect(200);
  expect((await put({ labels: 'bug', milestone_id: milestone!.id })).body).toMatchObject({
    labels: ['bug'],
    milestone: { id: milestone!.id },
  });
  await put({ state_event: 'close' });
  for (const [noun, shown] of [
    ['label', { action: 'add', label: { name: 'bug' } }],
    ['milestone', { action: 'add', milestone: { id: milestone!.id } }],
    ['state', { state: 'closed' }],
  ] as const) {
    const events = (await get(`resource_${noun}_events`)) as unknown as ShownResource[];
    expect(events).toMatchObject([{ resource_type: 'MergeRequest', ...shown }]);
    expect(await get(`resource_${noun}_events/${events[0]!.id}`)).toMatchObject(shown);
  }
});

const READS = ['notes', 'discussions', 'award_emoji', 'participants', 'time_stats', 'resource_label_events'];
const WRITES = ['notes', 'discussions', 'award_emoji', 'subscribe', 'unsubscribe', 'todo'];
test('guests of a private project are refused everywhere', async () => {
  const hidden = await service.seed.project({ visibility: 'private' });
  const own = await castOf(service.seed, hidden);
  const { iid } = await insertMergeRequestRow(service, hidden, { author_id: own.developer.id });
  const at = `/api/v4/projects/${hidden.id}/merge_requests/${iid}`;
  const guest = service.app.as(service.seed.viewer(own.guest));
  const stranger = service.app.as(service.seed.viewer(own.stranger));
  for (const tail of READS) {
    expect((await guest.get(`${at}/${tail}`).expect(403)).body).toEqual({ message: '403 Forbidden' });
    expect((await stranger.get(`${at}/${tail}`).expect(404)).body).toEqual({ message: '404 Project Not Found' });
  }
  for (const tail of WRITES)
    expect((await guest.post(`${at}/${tail}`).send({ body: 'x', name: 'rocket' }).expect(403)).body).toEqual({
      message: '403 Forbidden',
    });
});
