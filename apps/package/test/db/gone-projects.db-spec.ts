import { Directory, droppedWithProjects } from '@rookery/directory';
import { Work } from '@rookery/persistence';
import type { SeededService } from '@rookery/testing';
import { protectionRules } from '../../src/protection-rules/protection-rules.controller';
import { startPackage } from '../support/app';

let service: SeededService;
beforeAll(async () => void (service = await startPackage()));
afterAll(() => service.close());

test('rules go with a project that is gone, and only then', async () => {
  const maintainer = await service.seed.user();
  const project = await service.seed.project();
  await service.seed.member(maintainer, project, 'maintainer');
  await service.app
    .as(service.seed.viewer(maintainer))
    .post(`/api/v4/projects/${project.id}/packages/protection/rules`)
    .send({ package_name_pattern: 'a*', package_type: 'npm', minimum_access_level_for_push: 'owner' })
    .expect(201);
  const about = { aggregateType: 'project', aggregateId: project.id, actorId: null };
  const event = { id: 'x', time: new Date().toISOString(), ...about, data: { project_id: project.id } };
  const made = droppedWithProjects(protectionRules, 'spec-drop-rules');
  const consumer = new (made as new (directory: Directory) => { drop(batch: object): Promise<void> })(
    service.app.get(Directory),
  );
  const drop = () => service.app.get(Work).run((tx) => consumer.drop({ tx, events: [event] }));
  const rules = () => service.database.query('select 1 from protection_rules');

  await drop();
  expect(await rules()).toHaveLength(1);
  await service.database.query('delete from directory_projects where id = $1', [project.id]);
  await drop();
  expect(await rules()).toEqual([]);
});
