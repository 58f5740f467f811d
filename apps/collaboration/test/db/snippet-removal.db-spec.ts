import { randomUUID } from 'node:crypto';
import type { DirectoryProject } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import { registerProjectDeletionTests } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { UserRemovals } from '../../src/removal/user-removals';
import { UserRemovalsConsumer } from '../../src/removal/user-removals.consumer';
import { eventsOf, startCollaboration } from '../support/app';
import { snippetActions } from '../support/snippet-actions';
import type { ShownSnippet } from '../support/snippet-actions';

let service: SeededService;
let ghost: SeededUser;
let owner: SeededUser;
let project: DirectoryProject;
const { by, at, wish, made } = snippetActions(() => service);
beforeAll(async () => {
  service = await startCollaboration();
  ghost = await service.seed.user({ username: 'ghost', kind: 'ghost' });
  owner = await service.seed.user();
  project = await service.seed.project();
  await service.seed.member(owner, project, 'owner');
});
afterAll(() => service.close());

describe('with a project', () => {
  registerProjectDeletionTests({
    service: () => service,
    effect: 'drop-issues',
    tables: ['snippets', 'snippet_files'],
    fill: async (agent, { id }) => {
      await agent.post(`/api/v4/projects/${id}/snippets`).send(wish()).expect(201);
    },
  });
});

/** Removes a user from the copy and delivers the event, as identity does. */
async function remove(person: SeededUser, hard: boolean): Promise<void> {
  await service.database.query('delete from directory_users where id = $1', [person.id]);
  const data = { user_id: person.id, ghost_user_id: hard ? null : ghost.id, hard_delete: hard };
  const about = { aggregateType: 'user', aggregateId: person.id, actorId: 1, data };
  const event = { id: randomUUID(), time: new Date().toISOString(), ...about };
  const consumer = service.app.get(UserRemovalsConsumer);
  await service.app.get(Work).run((tx) => consumer.userDeleted({ tx, events: [event] }));
  await service.app.get(UserRemovals).runOnce();
}

/** Creates a user with a project snippet and a personal one, and a snippet of another user. */
async function createBusyPerson(): Promise<{ person: SeededUser; shared: ShownSnippet; own: ShownSnippet }> {
  const person = await service.seed.user();
  await service.seed.member(person, project, 'developer');
  const from = { 'user-agent': 'Nest/1', 'x-forwarded-for': '192.0.2.7' };
  const write = async (of: DirectoryProject | null) =>
    (
      await by(person)
        .post(at(of))
        .set(from)
        .send(wish({ visibility: 'public' }))
        .expect(201)
    ).body as ShownSnippet;
  return { person, shared: await write(project), own: await write(null) };
}
const readLeftRows = ({ id }: ShownSnippet) =>
  service.database.query(
    `select s.author_id, s.user_agent, s.ip_address, (select count(*)::int from snippet_files f where f.snippet_id = s.id) as files
     from snippets s where s.id = $1`,
    [id],
  );

describe('with a user', () => {
  test('they are transferred without data about the user', async () => {
    const { person, shared, own } = await createBusyPerson();
    const others = await made(owner, project);
    await remove(person, false);
    for (const snippet of [shared, own]) {
      expect(await readLeftRows(snippet)).toEqual([
        { author_id: ghost.id, user_agent: null, ip_address: null, files: 1 },
      ]);
    }
    expect(
      (
        await by(owner)
          .get(at(null, `/${own.id}`))
          .expect(200)
      ).body,
    ).toMatchObject({ author: { id: ghost.id } });
    expect(await readLeftRows(others)).toMatchObject([{ author_id: owner.id, files: 1 }]);
  });

  test('they are deleted with hard_delete, project snippets with an event each', async () => {
    const { person, shared, own } = await createBusyPerson();
    await by(owner)
      .get(at(project, `/${shared.id}`))
      .expect(200);
    await remove(person, true);
    expect([await readLeftRows(shared), await readLeftRows(own)]).toEqual([[], []]);
    const files = await service.database.query('select 1 from snippet_files where snippet_id = any($1)', [
      [shared.id, own.id],
    ]);
    expect(files).toEqual([]);
    const events = (await eventsOf(service.database, 'collaboration.snippet.deleted.v1')).filter(
      ({ snippet_id: id }) => id === shared.id || id === own.id,
    );
    expect(events).toEqual([{ snippet_id: shared.id, snippet_iid: null, project_id: project.id }]);
  });
});
