import { Work } from '@rookery/persistence';
import type { SeededService } from '@rookery/testing';
import { IssueUnassignmentConsumer } from '../../src/work/issues/assignees/unassignment.consumer';
import { startCollaboration } from '../support/app';

let service: SeededService;
beforeAll(async () => void (service = await startCollaboration()));
afterAll(() => service.close());

interface MembershipSource {
  readonly source_type: 'group' | 'project';
  readonly source_id: number;
  readonly includes_below: boolean;
}

test.each([
  [
    'a project',
    (at: { project: number }): MembershipSource => membershipSource('project', at.project, true),
    ['in a subgroup'],
  ],
  [
    'a group and its descendants',
    (at: { group: number }): MembershipSource => membershipSource('group', at.group, true),
    [],
  ],
  [
    'a group alone',
    (at: { group: number }): MembershipSource => membershipSource('group', at.group, false),
    ['in a subgroup'],
  ],
])('a user removed from %s is unassigned from issues there', async (_, where, left) => {
  const [owner, gone] = [await service.seed.user({ admin: true }), await service.seed.user()];
  const group = await service.seed.group();
  const below = await service.seed.group({ parent: group });
  const project = await service.seed.project({ namespace_id: group.id, visibility: 'public' });
  const nested = await service.seed.project({ namespace_id: below.id, visibility: 'public' });
  const elsewhere = await service.seed.project({ visibility: 'public' });
  const client = service.app.as(service.seed.viewer(owner));
  const issueIn = (id: number, title: string) =>
    client
      .post(`/api/v4/projects/${id}/issues`)
      .send({ title, assignee_ids: [gone.id, owner.id] })
      .expect(201);
  await issueIn(project.id, 'in the project');
  await issueIn(nested.id, 'in a subgroup');
  await issueIn(elsewhere.id, 'elsewhere');

  const data = { user_id: gone.id, ...where({ project: project.id, group: group.id }) };
  const event = {
    id: 'x',
    time: new Date().toISOString(),
    aggregateType: 'any',
    aggregateId: 1,
    actorId: owner.id,
    data,
  };
  const consumer = service.app.get(IssueUnassignmentConsumer);
  await service.app.get(Work).run((tx) => consumer.unassign({ tx, events: [event] }));

  const rows = await service.database.query<{ title: string }>(
    `select i.title from issue_assignees s join issues i on i.id = s.issue_id where s.user_id = $1 order by i.id`,
    [gone.id],
  );
  expect(rows.map((row) => row.title)).toEqual([...left, 'elsewhere']);
  const others = await service.database.query(`select 1 from issue_assignees where user_id = $1`, [owner.id]);
  expect(others).toHaveLength(3);
});

function membershipSource(
  source_type: 'group' | 'project',
  source_id: number,
  includes_below: boolean,
): MembershipSource {
  return { source_type, source_id, includes_below };
}
