import type { DirectoryBranchProtection, DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { GitClient } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { GitFront } from '../support/git-front';

/** Source: reference repositories 6.2. */
let service: SeededService;
let front: GitFront;
let git: GitClient;
let developer: SeededUser;
let maintainer: SeededUser;
let at = 0;

beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  front = await new GitFront(service.app, () => service.seed.anonymous()).start();
  [developer, maintainer] = [await service.seed.user(), await service.seed.user()];
  front.accept('developer', () => service.seed.viewer(developer));
  front.accept('maintainer', () => service.seed.viewer(maintainer));
});
afterAll(async () => {
  await front.stop();
  await git.close();
  await service.close();
});

type Name = 'developer' | 'maintainer';

function protectionSetting(push: number[], merge: number[], over: Partial<DirectoryBranchProtection> = {}) {
  const flags = { allow_force_push: false, developer_can_initial_push: false };
  return { default_branch_protection: { push_levels: push, merge_levels: merge, ...flags, ...over } };
}
const NOT_SET = { default_branch_protection: null };
/** The numbers 0 to 4 of the API, and settings that have no number. */
const NONE = protectionSetting([30], [30], { allow_force_push: true });
const PARTIAL = protectionSetting([30], [40]);
const FULL = protectionSetting([40], [40]);
const MERGING = protectionSetting([40], [30]);
const INITIAL = protectionSetting([40], [40], { developer_can_initial_push: true });
const NO_ONE = protectionSetting([0], [40]);
const EMPTY_LISTS = protectionSetting([], []);

async function projectIn(group: DirectoryNamespace, over: Partial<DirectoryProject> = {}): Promise<DirectoryProject> {
  const project = await service.seed.project({ namespace_id: group.id, default_branch: null, ...over });
  await service.seed.member(developer, project, 'developer');
  await service.seed.member(maintainer, project, 'maintainer');
  return project;
}

/** A working copy with one commit. Returns a push from it by a user; true if git accepted it. */
async function createPusher(group: DirectoryNamespace, { path }: DirectoryProject) {
  const folder = `work-${++at}`;
  const url = (name: Name) => front.url(`${group.full_path}/${path}.git`, name);
  await git.init(folder, url('maintainer'));
  const push = async (by: Name, ...args: string[]): Promise<boolean> =>
    (await git.run(folder, 'push', url(by), ...args)).code === 0;
  return {
    ...{ push, commit: (title: string) => git.commit(folder, title) },
    amend: () => git.ok(folder, 'commit', '--amend', '--allow-empty', '--message', 'Another second'),
  };
}

const projectRequests = (by: SeededUser, { id }: DirectoryProject) => {
  const agent = service.app.as(service.seed.viewer(by));
  const base = `/api/v4/projects/${id}`;
  return {
    get: (path: string) => agent.get(`${base}${path}`),
    post: (path: string, body: object) => agent.post(`${base}${path}`).send(body),
  };
};

interface Level {
  readonly access_level: number;
}
interface Rule {
  readonly name: string;
  readonly push_access_levels: readonly Level[];
  readonly merge_access_levels: readonly Level[];
  readonly allow_force_push: boolean;
}

/** Returns levels for pushes, levels for merges and whether force pushes are allowed. Returns null without a rule. */
async function readFirstRule(project: DirectoryProject): Promise<[number[], number[], boolean] | null> {
  const { body } = await projectRequests(maintainer, project).get('/protected_branches').expect(200);
  const [rule, ...others] = body as Rule[];
  expect(others).toEqual([]);
  if (!rule) return null;
  expect(rule.name).toBe('main');
  const levels = (list: readonly Level[]): number[] => list.map(({ access_level: level }) => level);
  return [levels(rule.push_access_levels), levels(rule.merge_access_levels), rule.allow_force_push];
}

const MAINTAINERS = [[40], [40], false];

it.each([
  ['not set', NOT_SET, { first: false, second: false, force: false }],
  ['0, none', NONE, { first: true, second: true, force: true }],
  ['1, partial', PARTIAL, { first: true, second: true, force: false }],
  ['4, full after the first push', INITIAL, { first: true, second: false, force: false }],
])('decides the pushes of developers with git: %s', async (_, group, expected) => {
  const home = await service.seed.group(group);
  const { push, commit, amend } = await createPusher(home, await projectIn(home));
  const first = await push('developer', 'main');
  if (!first) expect(await push('maintainer', 'main')).toBe(true);
  await commit('Second');
  const second = await push('developer', 'main');
  await amend();
  expect({ first, second, force: await push('developer', '+main') }).toEqual(expected);
});

it.each([
  ['not set', NOT_SET, false, MAINTAINERS],
  ['0, none', NONE, true, null],
  ['1, partial', PARTIAL, true, [[30], [40], false]],
  ['2, full', FULL, false, MAINTAINERS],
  ['3, developers merge', MERGING, false, [[40], [30], false]],
  ['4, full after the first push', INITIAL, true, MAINTAINERS],
  ['no one pushes', NO_ONE, false, [[0], [40], false]],
  ['empty lists', EMPTY_LISTS, false, MAINTAINERS],
])('decides the first commit over the API and the first rule: %s', async (_, group, isAllowed, rule) => {
  const project = await projectIn(await service.seed.group(group));
  const first = (by: SeededUser) =>
    projectRequests(by, project).post('/repository/files/a', { branch: 'main', content: 'x', commit_message: 'First' });
  const { status, body } = await first(developer);
  if (isAllowed) expect(status).toBe(201);
  else {
    expect([status, body]).toEqual([400, { message: 'You are not allowed to push into this branch' }]);
    expect((await first(maintainer)).status).toBe(201);
  }
  expect(await readFirstRule(project)).toEqual(rule);
});

it('decides the rule of a first README and of a fork', async () => {
  const readme = { creator_id: maintainer.id, initialize_with_readme: true };
  const source = await projectIn(await service.seed.group(), readme);
  await projectRequests(maintainer, source).get('/repository/tree').expect(200);
  const fork = { project_id: source.id, network_id: source.id, branch: null };
  for (const [group, rule] of [
    [NONE, null],
    [MERGING, [[40], [30], false]],
  ] as const) {
    const home = await service.seed.group(group);
    for (const over of [readme, { fork }]) {
      const project = await projectIn(home, over);
      await projectRequests(maintainer, project).get('/repository/tree').expect(200);
      expect(await readFirstRule(project)).toEqual(rule);
    }
  }
});

it('is that of the nearest group that has set it', async () => {
  const top = await service.seed.group(PARTIAL);
  const middle = await service.seed.group({ parent: top, ...NONE });
  const cases: [DirectoryNamespace, unknown][] = [
    [await service.seed.group({ parent: top, ...NOT_SET }), [[30], [40], false]],
    [await service.seed.group({ parent: middle, ...NOT_SET }), null],
    [await service.seed.group({ parent: middle, ...MERGING }), [[40], [30], false]],
  ];
  for (const [group, rule] of cases) {
    const project = await projectIn(group, { creator_id: maintainer.id, initialize_with_readme: true });
    await projectRequests(maintainer, project).get('/repository/tree').expect(200);
    expect(await readFirstRule(project)).toEqual(rule);
  }
});

it('yields to a rule that was made before the first push', async () => {
  const home = await service.seed.group(NONE);
  const project = await projectIn(home);
  await projectRequests(maintainer, project)
    .post('/protected_branches', { name: 'm*', push_access_level: 40 })
    .expect(201);
  const { push } = await createPusher(home, project);
  expect(await push('developer', 'main')).toBe(false);
  expect(await push('developer', 'main:topic')).toBe(true);
});
