import { Directory, droppedWithProjects } from '@rookery/directory';
import { Work } from '@rookery/persistence';
import { flagsOfProjects } from '../../src/feature-flags/feature-flags.module';
import { FlagsOfAProject } from '../support/flags';

let flags: FlagsOfAProject;
beforeAll(async () => void (flags = await FlagsOfAProject.start()));
afterAll(() => flags.service.close());

const TABLES = [
  'feature_flags_clients',
  'feature_flags_user_lists',
  'feature_flags',
  'feature_flag_strategies',
  'feature_flag_scopes',
  'internal_ids',
];

test('flags, lists and tokens go with a project that is gone, and only then', async () => {
  const { app, seed, database } = flags.service;
  const other = await flags.anotherProject();
  for (const project of [flags.project, other]) {
    const list = await flags.post<{ id: number }>(
      'feature_flags_user_lists',
      { name: 'l', user_xids: '' },
      201,
      project,
    );
    const strategies = [{ name: 'gitlabUserList', user_list_id: list.id, scopes: [{ environment_scope: '*' }] }];
    await flags.post('feature_flags', { name: 'f', strategies }, 201, project);
  }
  const about = { aggregateType: 'project', aggregateId: flags.project.id, actorId: null };
  const event = { id: 'x', time: new Date().toISOString(), ...about, data: { project_id: flags.project.id } };
  const made = droppedWithProjects(flagsOfProjects, 'spec-drop-flags');
  const consumer = new (made as new (directory: Directory) => { drop(batch: object): Promise<void> })(
    app.get(Directory),
  );
  const drop = () => app.get(Work).run((tx) => consumer.drop({ tx, events: [event] }));
  const counts = async () => {
    const sql = TABLES.map((table) => `(select count(*)::int from ${table}) as ${table}`).join(', ');
    const [row] = await database.query<Record<string, number>>(`select ${sql}`);
    return TABLES.map((table) => row![table]);
  };

  await drop();
  expect(await counts()).toEqual([2, 2, 2, 2, 2, 2]);
  await seed.remove('projects', flags.project.id);
  await drop();
  expect(await counts()).toEqual([1, 1, 1, 1, 1, 1]);
});
