import { Work } from '@rookery/persistence';
import { ProjectDeletionConsumer } from '../../src/noteables/project-deletion.consumer';
import { startCollaboration } from '../support/collaboration';
import type { Collaboration } from '../support/collaboration';

let service: Collaboration;
beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());

test('issues and notes go with their project, and only with theirs', async () => {
  const owner = await service.seed.user({ admin: true });
  const client = service.app.as(service.seed.viewer(owner));
  const [doomed, other] = [await service.seed.project(), await service.seed.project()];
  const viewer = () => service.app.as(service.seed.viewer(owner));
  for (const project of [doomed, other]) {
    const { iid } = await viewer()
      .post(`projects/${project.id}/issues`)
      .body({ title: 'x', assignee_ids: [owner.id] })
      .json<{ iid: number }>();
    await viewer().post(`projects/${project.id}/issues/${iid}/notes`).send({ body: 'x' });
  }
  const consumer = service.app.get(ProjectDeletionConsumer);
  const event = { id: 'x', time: new Date().toISOString(), aggregateId: doomed.id, actorId: null };
  await service.app
    .get(Work)
    .run((tx) => consumer.drop({ tx, events: [{ ...event, data: { project_id: doomed.id } }] }));
  const left = await service.database.query(
    `select (select array_agg(project_id) from issues) as issues, (select array_agg(project_id) from notes) as notes,
      (select count(*)::integer from issue_assignees) as assigned,
      (select array_agg(scope_id) from internal_ids where usage = 'issues') as counters`,
  );
  expect(left).toEqual([{ issues: [other.id], notes: [other.id], assigned: 1, counters: [other.id] }]);
  expect((await client.get(`projects/${other.id}/issues`)).body).toHaveLength(1);
});
