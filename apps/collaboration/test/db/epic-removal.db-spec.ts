import { randomUUID } from 'node:crypto';
import type { DirectoryNamespace } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import type { SeededService, SeededUser } from '@rookery/testing';
import { EpicsConsumer } from '../../src/epics/epics.consumer';
import { Departures } from '../../src/removal/departures';
import { DeparturesConsumer } from '../../src/removal/departures.consumer';
import { startCollaboration } from '../support/app';
import { epicPlaces } from '../support/epics';

let service: SeededService;
const { as, pathOf, group, open } = epicPlaces(() => service);
beforeEach(async () => void (service = await startCollaboration()));
afterEach(() => service.close());

/** Somebody who opened an epic with a label in each of the groups, and closed it. */
async function busyIn(places: readonly DirectoryNamespace[]): Promise<SeededUser> {
  const person = await service.seed.user();
  for (const place of places) {
    await service.seed.member(person, place, 'planner');
    const { iid } = await open(service.seed.viewer(person), place, { labels: 'wood' });
    await as(service.seed.viewer(person))
      .put(`${pathOf(place)}/${iid}`)
      .send({ state_event: 'close' })
      .expect(200);
  }
  return person;
}
const left = async (): Promise<unknown> =>
  (
    await service.database.query(
      `select (select array_agg(group_id order by id) from epics) as epics,
        (select count(*)::int from label_links where noteable_type = 'Epic') as labels,
        (select count(*)::int from resource_label_events where noteable_type = 'Epic') as told_labels,
        (select count(*)::int from resource_state_events where noteable_type = 'Epic') as told_states,
        (select array_agg(scope_id order by scope_id) from internal_ids where usage = 'epics') as counters`,
    )
  )[0];

test('epics go with their group, once it is gone, and only with theirs', async () => {
  const [doomed, other] = [await group(), await group()];
  await busyIn([doomed, other]);
  const about = { id: randomUUID(), time: new Date().toISOString(), aggregateType: 'group', actorId: null };
  const events = [{ ...about, aggregateId: doomed.id, data: { group_id: doomed.id } }];
  const drop = () =>
    service.app.get(Work).run((tx) => service.app.get(EpicsConsumer).groupDeleted({ tx, events: events as never }));
  await drop();
  const all = {
    epics: [doomed.id, other.id],
    labels: 2,
    told_labels: 2,
    told_states: 2,
    counters: [doomed.id, other.id],
  };
  expect(await left()).toEqual(all);
  await service.seed.remove('namespaces', doomed.id);
  await drop();
  expect(await left()).toEqual({ epics: [other.id], labels: 1, told_labels: 1, told_states: 1, counters: [other.id] });
});

test.each([true, false])('somebody who is removed (with all they wrote: %s)', async (isHard) => {
  const place = await group();
  const ghost = await service.seed.user({ username: 'ghost', kind: 'ghost' });
  const person = await busyIn([place]);
  const witness = await busyIn([place]);
  await service.database.query('delete from directory_users where id = $1', [person.id]);
  const data = { user_id: person.id, ghost_user_id: isHard ? null : ghost.id, hard_delete: isHard };
  const about = { id: randomUUID(), time: new Date().toISOString(), aggregateType: 'user', actorId: 1 };
  const events = [{ ...about, aggregateId: person.id, data }];
  await service.app.get(Work).run((tx) => service.app.get(DeparturesConsumer).userDeleted({ tx, events }));
  await service.app.get(Departures).once();
  const rows = await service.database.query('select author_id, closed_by_id from epics order by id');
  const kept = { author_id: witness.id, closed_by_id: witness.id };
  expect(rows).toEqual(isHard ? [kept] : [{ author_id: ghost.id, closed_by_id: ghost.id }, kept]);
  expect(await left()).toMatchObject(isHard ? { labels: 1, told_states: 1 } : { labels: 2, told_states: 2 });
});
