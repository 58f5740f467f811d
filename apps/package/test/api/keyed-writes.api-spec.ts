import type { DirectoryProject } from '@rookery/contracts';
import { registerIdempotentWriteTests } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { startPackage } from '../support/app';

let service: SeededService;
let project: DirectoryProject;
const people: SeededUser[] = [];
beforeAll(async () => {
  service = await startPackage();
  project = await service.seed.project({ visibility: 'private' });
  for (let index = 0; index < 2; index += 1) {
    people.push(await service.seed.user());
    await service.seed.member(people[index]!, project, 'maintainer');
  }
});
afterAll(() => service.close());

let counter = 0;
const as = (index: number) => service.app.as(service.seed.viewer(people[index]!));
const rule = { package_type: 'npm', minimum_access_level_for_push: 'owner' };

registerIdempotentWriteTests('POST …/packages/protection/rules', {
  caller: () => as(0),
  stranger: () => as(1),
  database: () => service.database,
  table: 'protection_rules',
  write: () => ({
    method: 'POST',
    path: `/api/v4/projects/${project.id}/packages/protection/rules`,
    body: { ...rule, package_name_pattern: `@acme/${(counter += 1)}` },
  }),
  count: async () => (await service.database.query('select 1 from protection_rules')).length,
  refused: { ...rule, package_name_pattern: 'x'.repeat(300) },
});
