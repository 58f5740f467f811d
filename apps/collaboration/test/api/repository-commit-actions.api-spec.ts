import type { DirectoryProject } from '@rookery/contracts';
import type { Repository } from '@rookery/git';
import type { Viewer } from '@rookery/kernel';
import type { SeededService, SeededUser } from '@rookery/testing';
import type { Response } from 'supertest';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { startCollaboration } from '../support/app';
import { codeAccess, commitFiles, gitIn, repositoryOf } from '../support/files-repository';
import type { Files } from '../support/files-repository';

let service: SeededService;
let writer: SeededUser;
let viewer: Viewer;

beforeAll(async () => {
  service = await startCollaboration();
  writer = await service.seed.user({ name: 'Wilma Wren' });
  viewer = service.seed.viewer(writer);
});
afterAll(() => service.close());

interface Place {
  readonly project: DirectoryProject;
  readonly repository: Repository;
  readonly tip: string;
}
const FILES: Files = { 'lib/a.txt': 'one\ntwo\n', run: 'x', link: { mode: '120000', content: 'run' } };

async function place(files: Files | null = FILES): Promise<Place> {
  const project = await service.seed.project();
  await service.seed.member(writer, project, 'maintainer');
  const repository = await repositoryOf(service, project);
  return { project, repository, tip: files === null ? '' : commitFiles(repository, files) };
}

const commitsPath = (id: number): string => `/api/v4/projects/${id}/repository/commits`;
const commit = (
  { project }: Pick<Place, 'project'>,
  actions: readonly object[],
  more: object = {},
): Promise<Response> =>
  service.app
    .as(viewer)
    .post(commitsPath(project.id))
    .send({ branch: 'main', commit_message: 'Message', actions, ...more });
const listFilesWithModes = ({ repository }: Place, branch = 'main'): string[] =>
  gitIn(repository, ['ls-tree', '-r', '--format=%(objectmode) %(path)', branch]).trim().split('\n');
const text = ({ repository }: Place, name: string): string => gitIn(repository, ['cat-file', 'blob', name]);

it('applies all kinds of actions in one commit, in their order', async () => {
  const at = await place();
  const { status, body } = await commit(
    at,
    [
      { action: 'create', file_path: 'new/script', content: 'IyEvYmluL3No', encoding: 'base64' },
      { action: 'chmod', file_path: 'new/script', execute_filemode: true },
      { action: 'create', file_path: 'empty' },
      { action: 'update', file_path: 'run', content: 'y\n' },
      { action: 'move', file_path: 'moved/run', previous_path: 'run' },
      { action: 'move', file_path: 'run', previous_path: 'lib/a.txt', content: 'replaced\n' },
      { action: 'delete', file_path: 'link' },
    ],
    { commit_message: 'Title\n\nText\n\nFixes: #1' },
  );
  expect(status).toBe(201);
  const id = gitIn(at.repository, ['rev-parse', 'main']).trim();
  expect(body).toMatchObject({
    id,
    short_id: id.slice(0, 8),
    title: 'Title',
    message: 'Title\n\nText\n\nFixes: #1',
    parent_ids: [at.tip],
    author_name: 'Wilma Wren',
    committer_name: 'Wilma Wren',
    trailers: { Fixes: '#1' },
    extended_trailers: { Fixes: ['#1'] },
    project_id: at.project.id,
    status: null,
    last_pipeline: null,
  });
  const stats = gitIn(at.repository, ['show', '--format=', '--shortstat', '-M', 'main']);
  const [additions, deletions] = [/(\d+) insertion/, /(\d+) deletion/].map((one) => Number(one.exec(stats)?.[1] ?? 0));
  expect(body.stats).toEqual({ additions, deletions, total: additions! + deletions! });
  expect(listFilesWithModes(at)).toEqual(['100644 empty', '100644 moved/run', '100755 new/script', '100644 run']);
  expect([text(at, 'main:moved/run'), text(at, 'main:run'), text(at, 'main:new/script')]).toEqual([
    'y\n',
    'replaced\n',
    '#!/bin/sh',
  ]);
  expect(gitIn(at.repository, ['fsck', '--strict'])).toBe('');
});

it('replaces a folder with a file in one commit, after its last file is deleted or moved', async () => {
  const at = await place({ ...FILES, 'deep/er/x': 'x', 'deep/y': 'y' });
  const replaced = await commit(at, [
    { action: 'delete', file_path: 'lib/a.txt' },
    { action: 'create', file_path: 'lib', content: 'now a file\n' },
    { action: 'move', file_path: 'moved', previous_path: 'deep/er/x' },
    { action: 'create', file_path: 'deep/er', content: 'er' },
  ]);
  expect(replaced.status).toBe(201);
  expect(listFilesWithModes(at)).toEqual([
    ...['100644 deep/er', '100644 deep/y', '100644 lib', '120000 link', '100644 moved', '100644 run'],
  ]);
  const early = await commit(at, [
    { action: 'delete', file_path: 'deep/er' },
    { action: 'create', file_path: 'deep', content: '' },
  ]);
  expect([early.status, early.body]).toEqual([400, { message: 'A directory with this name already exists' }]);
});

it('shows no numbers of lines on request, and accepts an empty list', async () => {
  const at = await place();
  const { status, body } = await commit(at, [], { stats: false });
  expect([status, body.stats, body.parent_ids]).toEqual([201, undefined, [at.tip]]);
  const counted = await commit(at, []);
  expect(counted.body.stats).toEqual({ additions: 0, deletions: 0, total: 0 });
});

it('accepts form and multipart bodies', async () => {
  const at = await place();
  const fields = {
    branch: 'main',
    commit_message: 'Message',
    'actions[][action]': 'create',
    'actions[][file_path]': 'form',
    'actions[][content]': 'text',
  };
  const form = await service.app.as(viewer).post(commitsPath(at.project.id)).type('form').send(fields);
  expect(form.status).toBe(201);
  let request = service.app.as(viewer).post(commitsPath(at.project.id));
  for (const [name, value] of Object.entries({ ...fields, 'actions[][file_path]': 'parts' }))
    request = request.field(name, value);
  expect((await request).status).toBe(201);
  expect(listFilesWithModes(at)).toEqual(expect.arrayContaining(['100644 form', '100644 parts']));
});

it('makes the first branch of an empty repository the default one', async () => {
  const at = await place(null);
  const { status, body } = await commit(at, [{ action: 'create', file_path: 'a', content: 'x\n' }], {
    branch: 'trunk',
    start_branch: 'main',
  });
  expect([status, body.parent_ids, body.stats]).toEqual([201, [], { additions: 1, deletions: 0, total: 1 }]);
  expect(gitIn(at.repository, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/trunk\n');
});

describe('the start of a commit', () => {
  const create = (path: string) => [{ action: 'create', file_path: path, content: 'x' }];

  it('is another branch or a commit', async () => {
    const at = await place();
    const second = commitFiles(at.repository, { second: 'x' });
    const fromBranch = await commit(at, create('a'), { branch: 'one', start_branch: 'main' });
    expect(fromBranch.body.parent_ids).toEqual([second]);
    const fromSha = await commit(at, create('a'), { branch: 'two', start_sha: at.tip });
    expect(fromSha.body.parent_ids).toEqual([at.tip]);
    expect(listFilesWithModes(at, 'two')).toContain('100644 run');
    const own = await commit(at, create('a'), { start_project: at.project.id });
    expect(own.status).toBe(201);
  });

  it('overwrites a branch by force', async () => {
    const at = await place();
    commitFiles(at.repository, { old: 'x' }, { branch: 'bot' });
    const forced = await commit(at, create('a'), { branch: 'bot', start_branch: 'main', force: true });
    expect([forced.status, forced.body.parent_ids]).toEqual([201, [at.tip]]);
    expect(listFilesWithModes(at, 'bot')).not.toContain('100644 old');
    const again = await commit(at, create('a'), { branch: 'bot', start_sha: at.tip, force: true });
    expect([again.status, again.body.parent_ids]).toEqual([201, [at.tip]]);
  });

  it.each([
    [{ start_sha: 'abc1234' }, "Invalid start_sha 'abc1234'"],
    [{ start_sha: 'a'.repeat(40) }, `Cannot find start_sha '${'a'.repeat(40)}'`],
    [{ start_sha: 'TIP' }, "A branch called 'main' already exists. Switch to that branch in order to make changes"],
    [
      { start_branch: 'other' },
      "A branch called 'main' already exists. Switch to that branch in order to make changes",
    ],
    [{ start_branch: 'none', branch: 'x' }, 'You can only create or edit files when you are on a branch'],
    [
      { start_branch: 'main', branch: 'a..b' },
      "Something went wrong when we tried to create 'a..b' for you: Branch name is invalid",
    ],
  ])('is refused for %j', async (more, message) => {
    const at = await place();
    commitFiles(at.repository, { x: 'x' }, { branch: 'other' });
    const start = 'start_sha' in more && more.start_sha === 'TIP' ? { start_sha: at.tip } : more;
    const { status, body } = await commit(at, create('new'), start);
    expect([status, body]).toEqual([400, { message }]);
  });

  it('is in a project of the fork network', async () => {
    const [at, other] = [await place(), await place()];
    const { body: named } = await commit(at, create('b'), { start_project: other.project.id });
    const [group] = await service.database.query<{ name: string }>(
      'select full_name as name from directory_namespaces where id = $1',
      [at.project.namespace_id],
    );
    expect(named).toEqual({
      message: `403 Forbidden - Project is not included in the fork network for ${group!.name} / ${at.project.name}`,
    });
    const fork = { project_id: at.project.id, network_id: at.project.id, branch: null };
    const forked = await service.seed.project({ fork });
    const origin = await service.app
      .get(ProjectRepositories)
      .openRepository({ id: forked.id, defaultBranch: 'main', fork });
    const tip = commitFiles(origin, { f: 'f' }, { branch: 'work' });
    const started = await commit(at, create('b'), { branch: 'new', start_project: forked.id, start_branch: 'work' });
    expect([started.status, started.body.parent_ids]).toEqual([201, [tip]]);
    expect(gitIn(at.repository, ['fsck', '--connectivity-only'])).toBe('');
    const closed = await service.seed.project({ fork, repository_access_level: 'disabled' });
    expect((await commit(at, create('b'), { start_project: closed.id })).status).toBe(403);
    const unknown = await commit(at, create('b'), { start_project: 'no/where' });
    expect([unknown.status, unknown.body]).toEqual([404, { message: '404 Project Not Found' }]);
  });
});

describe('refusals of actions', () => {
  let at: Place;
  beforeAll(async () => {
    at = await place();
  });

  it.each<[readonly object[], string]>([
    [[{ action: 'create', file_path: 'run', content: '' }], 'A file with this name already exists'],
    [[{ action: 'create', file_path: 'lib', content: '' }], 'A directory with this name already exists'],
    [[{ action: 'create', file_path: 'run/x', content: '' }], 'A file with this name already exists'],
    [[{ action: 'update', file_path: 'none', content: '' }], "A file with this name doesn't exist"],
    [[{ action: 'delete', file_path: 'none' }], "A file with this name doesn't exist"],
    [[{ action: 'chmod', file_path: 'none', execute_filemode: true }], "A file with this name doesn't exist"],
    [[{ action: 'move', file_path: 'x', previous_path: 'none' }], "A file with this name doesn't exist"],
    [[{ action: 'move', file_path: 'lib/a.txt', previous_path: 'run' }], 'A file with this name already exists'],
    [[{ action: 'create', file_path: '', content: '' }], 'You must provide a file path'],
    [[{ action: 'create', file_path: '../x', content: '' }], 'Path cannot include directory traversal'],
    [[{ action: 'create', file_path: '/x', content: '' }], "invalid path: '/x'"],
    [[{ action: 'create', file_path: '.git/x', content: '' }], "invalid path: '.git/x'"],
    [[{ action: 'move', file_path: '.gitmodules', previous_path: 'link' }], "invalid path: '.gitmodules'"],
    [
      [
        { action: 'create', file_path: 'fresh', content: '' },
        { action: 'delete', file_path: 'none' },
      ],
      "A file with this name doesn't exist",
    ],
    [
      [
        { action: 'delete', file_path: 'run' },
        { action: 'update', file_path: 'run', content: '' },
      ],
      "A file with this name doesn't exist",
    ],
    [
      [{ action: 'update', file_path: 'run', content: '', last_commit_id: 'a'.repeat(40) }],
      'The file has changed since you started editing it: run',
    ],
    [
      [{ action: 'move', file_path: 'x', previous_path: 'run', last_commit_id: 'a'.repeat(40) }],
      'The file has changed since you started editing it: run',
    ],
  ])('%j', async (actions, message) => {
    const { status, body } = await commit(at, actions);
    expect([status, body]).toEqual([400, { message }]);
    expect(gitIn(at.repository, ['rev-parse', 'main']).trim()).toBe(at.tip);
  });

  it.each<[object, string]>([
    [{ actions: [{ file_path: 'x' }] }, 'actions[0][action] is missing'],
    [{ actions: [{ action: 'rename', file_path: 'x' }] }, 'actions[0][action] does not have a valid value'],
    [{ actions: [{ action: 'delete' }] }, 'actions[0][file_path] is missing'],
    [{ actions: [{ action: 'update', file_path: 'x' }] }, 'actions[0][content] is missing'],
    [{ actions: [{ action: 'move', file_path: 'x' }] }, 'actions[0][previous_path] is missing'],
    [{ actions: [{ action: 'chmod', file_path: 'x' }] }, 'actions[0][execute_filemode] is missing'],
    [
      { actions: [{ action: 'create', file_path: 'x', content: '%', encoding: 'base64' }] },
      'actions[0][content] is invalid',
    ],
    [{ actions: ['x'] }, 'actions[0] is invalid'],
    [{ actions: 'x' }, 'actions is invalid'],
    [{ actions: undefined }, 'actions is missing'],
    [{ branch: '' }, 'branch is empty'],
    [{ commit_message: undefined }, 'commit_message is missing'],
    [{ start_branch: 'a', start_sha: 'b' }, 'start_branch, start_sha are mutually exclusive'],
    [
      { actions: Array.from({ length: 1001 }, () => ({ action: 'delete', file_path: 'x' })) },
      'actions has too many items (maximum is 1000)',
    ],
  ])('in their parameters: %j', async (more, error) => {
    const { status, body } = await commit(at, [], more);
    expect([status, body]).toEqual([400, { error }]);
  });
});

it('keeps a stranger from the code, and a token without its scope', async () => {
  const at = await place();
  const scoped = { ...viewer, scopes: ['read_api', 'write_repository'] };
  const answer = await service.app.as(scoped).post(commitsPath(at.project.id)).send({ branch: 'main' });
  expect([answer.status, answer.body.error]).toEqual([403, 'insufficient_scope']);
});

it('writes a thousand files at once', async () => {
  const at = await place();
  const actions = Array.from({ length: 1000 }, (_, n) => ({
    action: 'create',
    file_path: `many/d${n % 10}/f${n}`,
    content: `content ${n}`,
  }));
  const { status, body } = await commit(at, actions);
  expect([status, body.stats]).toEqual([201, { additions: 1000, deletions: 0, total: 1000 }]);
  expect(listFilesWithModes(at)).toHaveLength(1003);
});

describe('access', () => {
  let count = 0;
  codeAccess('writes', {
    service: () => service,
    fill: (made) => void commitFiles(made, { a: 'a' }),
    ask: async (by, id) => {
      const actions = [{ action: 'create', file_path: `f${++count}`, content: '' }];
      const sent = { branch: 'main', commit_message: 'm', actions };
      return (await service.app.as(by).post(commitsPath(id)).send(sent)).status;
    },
  });
});
