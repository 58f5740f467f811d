import { Work } from '@rookery/persistence';
import type { SeededService } from '@rookery/testing';
import { DeletedProjectsConsumer } from '../../src/removal/deleted-projects.consumer';
import { startCollaboration } from '../support/app';

let service: SeededService;
beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());

test('issues and notes are deleted only with their own project', async () => {
  const owner = await service.seed.user({ admin: true });
  const client = service.app.as(service.seed.viewer(owner));
  const [doomed, other] = [await service.seed.project(), await service.seed.project()];
  const viewer = () => service.app.as(service.seed.viewer(owner));
  for (const project of [doomed, other]) {
    const { iid } = (
      await viewer()
        .post(`/api/v4/projects/${project.id}/issues`)
        .send({ title: 'x', assignee_ids: [owner.id] })
        .expect(201)
    ).body as { iid: number };
    await viewer().post(`/api/v4/projects/${project.id}/issues/${iid}/notes`).send({ body: 'x' });
  }
  const consumer = service.app.get(DeletedProjectsConsumer);
  const event = {
    id: 'x',
    time: new Date().toISOString(),
    aggregateType: 'project',
    aggregateId: doomed.id,
    actorId: null,
  };
  const drop = () =>
    service.app.get(Work).run((tx) => consumer.drop({ tx, events: [{ ...event, data: { project_id: doomed.id } }] }));
  await drop();
  expect(await service.database.query('select 1 from issues')).toHaveLength(2);

  await service.database.query('delete from directory_projects where id = $1', [doomed.id]);
  await drop();
  const left = await service.database.query(
    `select (select array_agg(project_id) from issues) as issues, (select array_agg(project_id) from notes) as notes,
      (select count(*)::integer from issue_assignees) as assigned,
      (select array_agg(scope_id) from internal_ids where usage = 'issues') as counters`,
  );
  expect(left).toEqual([{ issues: [other.id], notes: [other.id], assigned: 1, counters: [other.id] }]);
  expect((await client.get(`/api/v4/projects/${other.id}/issues`)).body).toHaveLength(1);
});
