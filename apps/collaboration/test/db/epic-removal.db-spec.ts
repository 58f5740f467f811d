import type { DirectoryNamespace } from '@rookery/contracts';
import { groupDeleted, userDeleted } from '@rookery/contracts';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { epicPlaces } from '../support/epics';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
const { as, pathOf, group, open } = epicPlaces(() => service);
beforeEach(async () => {
  service = await startCollaboration();
  nats = await startNats();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
});
afterEach(async () => {
  await worker.stop();
  await nats.drop();
  await service.close();
});

/** Creates a user who opened an epic in each group and used all its features; a second user is mentioned there. */
async function createBusyPersonIn(places: readonly DirectoryNamespace[], witness: SeededUser): Promise<SeededUser> {
  const person = await service.seed.user();
  for (const place of places) {
    await service.seed.member(person, place, 'planner');
    const viewer = service.seed.viewer(person);
    const { id, iid } = await open(viewer, place, { labels: 'wood', description: `For @${witness.username}` });
    const path = `${pathOf(place)}/${iid}`;
    await as(viewer).put(path).send({ state_event: 'close' }).expect(200);
    await as(viewer).post(`${path}/award_emoji`).send({ name: 'thumbsup' }).expect(201);
    await as(viewer).post(`${path}/unsubscribe`).expect(201);
    await as(viewer)
      .post(`${pathOf(place)}/${id}/notes`)
      .send({ body: 'A word' })
      .expect(201);
  }
  return person;
}
/** Counts the remaining rows of epics by table. */
const countLeftRows = async (): Promise<unknown> => {
  await worker.drained();
  const tables = ['label_links', 'resource_label_events', 'resource_state_events', 'award_emoji', 'subscriptions'];
  const counts = [...tables, 'notes', 'participants'].map(
    (table) => `(select count(*)::int from ${table} where noteable_type = 'Epic') as ${table}`,
  );
  const todos = `(select count(*)::int from todos where target_type = 'Epic') as todos`;
  const groups = '(select array_agg(group_id order by id) from epics) as epics';
  const scopes = `(select array_agg(scope_id order by scope_id) from internal_ids where usage = 'epics') as counters`;
  return (await service.database.query(`select ${[groups, scopes, todos, ...counts].join(', ')}`))[0];
};
/** Rows per epic that `createBusyPersonIn` writes: a to-do, a note with its system note, and two participants. */
const expectedCounts = (count: number) => ({
  todos: count,
  label_links: count,
  resource_label_events: count,
  resource_state_events: count,
  award_emoji: count,
  subscriptions: count,
  notes: 2 * count,
  participants: 2 * count,
});

test('epics are deleted with their group, with all attached rows, and no others', async () => {
  const [doomed, other] = [await group(), await group()];
  await createBusyPersonIn([doomed, other], await service.seed.user());
  expect(await countLeftRows()).toEqual({
    epics: [doomed.id, other.id],
    counters: [doomed.id, other.id],
    ...expectedCounts(2),
  });
  await service.seed.remove('namespaces', doomed.id);
  await publish(nats, groupDeleted.of({ aggregateId: doomed.id, actorId: 1, data: { group_id: doomed.id } }));
  expect(await countLeftRows()).toEqual({ epics: [other.id], counters: [other.id], ...expectedCounts(1) });
  expect(await service.database.query('select 1 from dead_letters')).toEqual([]);
});

test('attached rows are deleted with the epic', async () => {
  const place = await group();
  const person = await createBusyPersonIn([place], await service.seed.user());
  await as(service.seed.viewer(person))
    .delete(`${pathOf(place)}/1`)
    .expect(204);
  expect(await countLeftRows()).toEqual({ epics: null, counters: [place.id], ...expectedCounts(0) });
});

test.each([true, false])('removing a user (hard_delete: %s)', async (isHard) => {
  const place = await group();
  const ghost = await service.seed.user({ username: 'ghost', kind: 'ghost' });
  const witness = await service.seed.user();
  const person = await createBusyPersonIn([place], witness);
  const stays = await createBusyPersonIn([place], witness);
  const elsewhere = `${pathOf(place)}/2`;
  await as(service.seed.viewer(person)).post(`${elsewhere}/award_emoji`).send({ name: 'thumbsup' }).expect(201);
  const [second] = await service.database.query<{ id: number }>('select id from epics where iid = 2');
  const notes = `${pathOf(place)}/${second!.id}/notes`;
  await as(service.seed.viewer(person)).post(notes).send({ body: 'A word' }).expect(201);
  await worker.drained();
  await service.seed.remove('users', person.id);
  const data = { user_id: person.id, ghost_user_id: isHard ? null : ghost.id, hard_delete: isHard };
  await publish(nats, userDeleted.of({ aggregateId: person.id, actorId: 1, data }));
  const round = async () => (await service.database.query<{ round: number }>('select round from user_departures'))[0];
  await until(async () => (await round())?.round === 2);
  const rows = await service.database.query(
    'select author_id, closed_by_id, upvotes_count, public_notes_count from epics order by id',
  );
  const kept = { author_id: stays.id, closed_by_id: stays.id, upvotes_count: 1, public_notes_count: isHard ? 1 : 2 };
  const given = { author_id: ghost.id, closed_by_id: ghost.id, upvotes_count: 0, public_notes_count: 1 };
  expect(rows).toEqual(isHard ? [kept] : [given, kept]);
  expect(await countLeftRows()).toMatchObject(isHard ? { label_links: 1, notes: 2 } : { label_links: 2, notes: 5 });
});

test('feeds have no entries of epics', async () => {
  const place = await group();
  await createBusyPersonIn([place], await service.seed.user());
  await worker.drained();
  expect(await service.database.query('select count(*)::int as n from activity_events')).toEqual([{ n: 0 }]);
  expect(await service.database.query('select 1 from dead_letters')).toEqual([]);
});
