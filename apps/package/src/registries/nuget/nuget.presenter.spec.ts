import { registrationDocument } from './nuget.presenter';
import type { NugetRow } from './nuget.queries';

const URLS = { base: 'http://a', ofProject: () => 'http://p' };
const rowOf = (version: string, description: string): NugetRow => ({
  ...{ package_id: 1, project_id: 1, name_key: 'a', name: 'A', version, version_key: version },
  nuspec: { description, dependencyGroups: [] } as unknown as NugetRow['nuspec'],
  created_at: new Date(0),
});

/** The page of a document with versions of 3 Mi characters each. */
function registrationPage(count: number): unknown {
  const description = 'a'.repeat(3 * 1024 ** 2);
  const rows = Array.from({ length: count }, (_, index) => rowOf(`1.0.${index}`, description));
  const { items } = JSON.parse(registrationDocument(URLS, rows).text) as {
    items: [{ items: { catalogEntry: unknown }[] }];
  };
  const [{ items: leaves, ...page }] = items;
  return { ...page, versions: leaves.map(({ catalogEntry }) => (catalogEntry as NugetRow).version) };
}

it('shows the newest versions within 16 Mi characters, the oldest first', () => {
  const versions = ['1.0.3', '1.0.4', '1.0.5', '1.0.6', '1.0.7'];
  const id = 'http://a/metadata/a/index.json';
  expect(registrationPage(8)).toEqual({ '@id': id, lower: '1.0.3', upper: '1.0.7', count: 5, versions });
  expect(registrationPage(1)).toMatchObject({ count: 1, versions: ['1.0.0'] });
});
