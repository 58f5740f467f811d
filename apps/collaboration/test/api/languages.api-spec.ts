import type { DirectoryProject } from '@rookery/contracts';
import { GitClient, registerVisibilityTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { commitFiles } from '../support/commits-fixture';
import { refsRepository } from '../support/refs-repository';

let service: SeededService;
let git: GitClient;
beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
});
afterAll(async () => {
  await git.close();
  await service.close();
});

const pathOf = ({ id }: Pick<DirectoryProject, 'id'>) => `/api/v4/projects/${id}/languages`;
const languagesOf = async (project: DirectoryProject): Promise<unknown> =>
  (await service.app.as(service.seed.anonymous()).get(pathOf(project)).expect(200)).body as unknown;

async function projectWith(files: Readonly<Record<string, string>>): Promise<DirectoryProject> {
  const project = await service.seed.project({ visibility: 'public' });
  const repository = await service.app
    .get(ProjectRepositories)
    .openRepository({ id: project.id, defaultBranch: 'main' });
  commitFiles(repository, files);
  return project;
}

it('are shares of the bytes, the largest first', async () => {
  const project = await projectWith({
    ...{ 'src/a.ts': 'x'.repeat(500), 'src/B.TS': 'x'.repeat(166), Makefile: 'x'.repeat(333), 'lib/h.h': 'x' },
    ...{ 'README.md': 'x'.repeat(900), 'data.json': 'x'.repeat(900), 'empty.py': '', unknown: 'x' },
    ...{ 'node_modules/a/b.js': 'x', 'vendor/x.rb': 'x', 'dist/a.min.js': 'x' },
  });
  const shares = await languagesOf(project);
  expect(shares).toEqual({ TypeScript: 66.6, Makefile: 33.3, C: 0.1 });
  expect(Object.keys(shares as object)).toEqual(['TypeScript', 'Makefile', 'C']);
  expect(await languagesOf(project)).toEqual(shares);
});

it.each([
  ['x.m', 'Objective-C'],
  ['x.rs', 'Rust'],
  ['x.pl', 'Perl'],
  ['x.cs', 'C#'],
  ['Dockerfile', 'Dockerfile'],
  ['x.blade.php', 'Blade'],
  ['index.html', 'HTML'],
])('know %s as %s', async (name, language) => {
  expect(await languagesOf(await projectWith({ [name]: 'x' }))).toEqual({ [language]: 100 });
});

it('follow the default branch', async () => {
  const { project, run, place } = await refsRepository(service, git);
  expect(await languagesOf(project)).toEqual({});
  await place('HEAD:refs/heads/main');
  expect(await languagesOf(project)).toEqual({});
  await run('mv', 'README.md', 'a.go');
  await run('commit', '--quiet', '-m', 'Go');
  await place('HEAD:refs/heads/main');
  expect(await languagesOf(project)).toEqual({ Go: 100 });
});

describe('access', () => {
  registerVisibilityTests({
    app: () => service.app,
    async from(level, standing) {
      const project = await service.seed.project({ visibility: level });
      const cast = await castOf(service.seed, project);
      const user = cast[standing === 'outsider' ? 'stranger' : (standing as keyof Cast)];
      const viewer = standing === 'anonymous' ? service.seed.anonymous() : service.seed.viewer(user);
      return { viewer, path: pathOf(project) };
    },
    seen: (standing, level) => (level === 'private' && /guest|planner/.test(standing) ? 403 : 200),
  });

  it.each(['disabled', 'private'] as const)('is refused where the repository is %s', async (access) => {
    const project = await service.seed.project({ repository_access_level: access, visibility: 'public' });
    const { status, body } = await service.app.as(service.seed.anonymous()).get(pathOf(project));
    expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
  });
});
