import type { DirectoryProject } from '@rookery/contracts';
import { updateRefs } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import type { Viewer } from '@rookery/kernel';
import { registerParameterEncodingTests, registerRefusalOrderTests } from '@rookery/testing';
import type { Method, SeededService, SeededUser } from '@rookery/testing';
import type { Response } from 'supertest';
import { eventsOf, startCollaboration } from '../support/app';
import { codeAccess, commitFiles, gitIn, repositoryOf } from '../support/files-repository';

let service: SeededService;
let writer: SeededUser;
let viewer: Viewer;

beforeAll(async () => {
  service = await startCollaboration();
  writer = await service.seed.user({ name: 'Wilma Wren', public_email: 'wilma@example.org' });
  viewer = service.seed.viewer(writer);
});
afterAll(() => service.close());

interface Place {
  readonly project: DirectoryProject;
  readonly repository: Repository;
  readonly tip: string;
}

async function place(
  files: Parameters<typeof commitFiles>[1] | null = { 'lib/a.txt': 'one\n', run: 'x' },
): Promise<Place> {
  const project = await service.seed.project();
  await service.seed.member(writer, project, 'maintainer');
  const repository = await repositoryOf(service, project);
  return { project, repository, tip: files === null ? '' : commitFiles(repository, files) };
}

const filePath = ({ project }: Pick<Place, 'project'>, path: string): string =>
  `/api/v4/projects/${project.id}/repository/files/${encodeURIComponent(path)}`;

function send(method: Method, at: Place, path: string, body: object, by = viewer): Promise<Response> {
  const agent = service.app.as(by);
  const request = method === 'POST' ? agent.post(filePath(at, path)) : agent.put(filePath(at, path));
  return (method === 'DELETE' ? agent.delete(filePath(at, path)) : request).send({
    branch: 'main',
    commit_message: 'Message',
    ...body,
  });
}

const show = ({ repository }: Place, name: string): string => gitIn(repository, ['show', '--format=', name]);
const listFilesWithModes = ({ repository }: Place, branch = 'main'): string[] =>
  gitIn(repository, ['ls-tree', '-r', '--format=%(objectmode) %(path)', branch]).trim().split('\n');

describe('a single file', () => {
  it('is added, with the caller as author and committer', async () => {
    const at = await place();
    const answer = await send('POST', at, 'lib/new/ü.txt', { content: 'text\n', commit_message: ' Add\n\nü' });
    expect([answer.status, answer.body]).toEqual([201, { file_path: 'lib/new/ü.txt', branch: 'main' }]);
    const head = gitIn(at.repository, ['cat-file', 'commit', 'main']);
    expect(head).toContain(`parent ${at.tip}\nauthor Wilma Wren <wilma@example.org> `);
    expect(head).toContain('\ncommitter Wilma Wren <wilma@example.org> ');
    expect(head.endsWith('\n\n Add\n\nü')).toBe(true);
    expect(show(at, 'main:lib/new/ü.txt')).toBe('text\n');
    expect(gitIn(at.repository, ['fsck', '--strict'])).toBe('');
    const read = await service.app.as(viewer).get(filePath(at, 'lib/new/ü.txt')).query({ ref: 'main' });
    expect(read.body).toMatchObject({ commit_id: gitIn(at.repository, ['rev-parse', 'main']).trim() });
    expect(read.body.last_commit_id).toBe(read.body.commit_id);
  });

  it('is changed and keeps its mode, and is removed with its folders', async () => {
    const at = await place({ 'deep/er/run': { mode: '100755', content: 'x' }, other: 'x' });
    const changed = await send('PUT', at, 'deep/er/run', { content: 'y' });
    expect([changed.status, changed.body]).toEqual([200, { file_path: 'deep/er/run', branch: 'main' }]);
    expect(listFilesWithModes(at)).toEqual(['100755 deep/er/run', '100644 other']);
    const removed = await send('DELETE', at, 'deep/er/run', {});
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect(listFilesWithModes(at)).toEqual(['100644 other']);
  });

  it('is removed by parameters of the query', async () => {
    const at = await place();
    const answer = await service.app
      .as(viewer)
      .delete(filePath(at, 'run'))
      .query({ branch: 'main', commit_message: 'Bye' });
    expect(answer.status).toBe(204);
    expect(gitIn(at.repository, ['log', '-1', '--format=%s'])).toBe('Bye\n');
  });

  it('is stored as sent, unless its encoding is base64', async () => {
    const at = await place();
    await send('POST', at, 'text', { content: 'aGVsbG8=' });
    expect(show(at, 'main:text')).toBe('aGVsbG8=');
    await send('POST', at, 'empty', { content: '' });
    expect(show(at, 'main:empty')).toBe('');
    const bytes = Buffer.from([0, 255, 10, 200]);
    await send('POST', at, 'bytes', { content: bytes.toString('base64'), encoding: 'base64' });
    await send('POST', at, 'lines', { content: 'aGVs\nbG8\n', encoding: 'base64' });
    const { stdout } = await at.repository.run({ args: ['cat-file', 'blob', 'main:bytes'] });
    expect(stdout.equals(bytes)).toBe(true);
    expect(show(at, 'main:lines')).toBe('hello');
    for (const content of ['a', '%%%%', 'aGVsbG8', 'aGVsbG8=x'].filter((text) => text !== 'aGVsbG8')) {
      const refused = await send('POST', at, 'bad', { content, encoding: 'base64' });
      expect([refused.status, refused.body]).toEqual([400, { error: 'content is invalid' }]);
    }
  });

  it('becomes executable and plain', async () => {
    const at = await place();
    await send('POST', at, 'new', { content: 'x', execute_filemode: true });
    await send('PUT', at, 'run', { content: 'y', execute_filemode: 'true' });
    expect(listFilesWithModes(at)).toEqual(['100644 lib/a.txt', '100755 new', '100755 run']);
    await send('PUT', at, 'run', { content: 'z', execute_filemode: false });
    expect(listFilesWithModes(at)).toContain('100644 run');
  });

  it('has another author, if name and e-mail address are given', async () => {
    const at = await place();
    await send('POST', at, 'one', { content: '', author_name: 'Bo', author_email: 'bo@example.org' });
    expect(gitIn(at.repository, ['log', '-1', '--format=%an <%ae> %cn'])).toBe('Bo <bo@example.org> Wilma Wren\n');
    await send('POST', at, 'two', { content: '', author_name: 'Bo' });
    expect(gitIn(at.repository, ['log', '-1', '--format=%an'])).toBe('Wilma Wren\n');
  });

  it('makes an empty commit when its content stays', async () => {
    const at = await place();
    expect((await send('PUT', at, 'run', { content: 'x' })).status).toBe(200);
    expect(gitIn(at.repository, ['rev-list', '--count', 'main'])).toBe('2\n');
  });

  it('of large size is accepted', async () => {
    const at = await place();
    const bytes = Buffer.alloc(40 * 1024 * 1024, 'abcdefg');
    const answer = await send('POST', at, 'large', { content: bytes.toString('base64'), encoding: 'base64' });
    expect(answer.status).toBe(201);
    expect(gitIn(at.repository, ['cat-file', '-s', 'main:large'])).toBe(`${bytes.length}\n`);
    const tooLarge = await send('POST', at, 'larger', { content: 'x'.repeat(65 * 1024 * 1024) });
    expect([tooLarge.status, tooLarge.body]).toEqual([413, { message: '413 Request Entity Too Large' }]);
  });
});

describe('branches', () => {
  it('of an empty repository become its default branch', async () => {
    for (const branch of ['main', 'other/ü']) {
      const at = await place(null);
      const answer = await send('POST', at, 'README.md', { branch, content: 'hello' });
      expect([answer.status, answer.body]).toEqual([201, { file_path: 'README.md', branch }]);
      expect(gitIn(at.repository, ['symbolic-ref', 'HEAD'])).toBe(`refs/heads/${branch}\n`);
      expect(gitIn(at.repository, ['rev-list', '--parents', branch]).trim()).toMatch(/^[0-9a-f]{40}$/);
      const pushes = await eventsOf(service.database, 'collaboration.push.completed.v1');
      expect(pushes.at(-1)).toMatchObject({ project_id: at.project.id, default_branch: branch, user_id: writer.id });
    }
  });

  it('are made from another branch', async () => {
    const at = await place();
    const answer = await send('POST', at, 'new', { branch: 'feature', start_branch: 'main', content: '' });
    expect(answer.body).toEqual({ file_path: 'new', branch: 'feature' });
    expect(gitIn(at.repository, ['rev-parse', 'feature~1']).trim()).toBe(at.tip);
    expect(gitIn(at.repository, ['rev-parse', 'main']).trim()).toBe(at.tip);
    const same = await send('POST', at, 'new', { start_branch: null, content: '' });
    expect(same.status).toBe(201);
  });
});

describe('refusals of changes', () => {
  let at: Place;
  beforeAll(async () => {
    at = await place({ 'lib/a.txt': 'one\n', file: 'x' });
    commitFiles(at.repository, { x: 'x' }, { branch: 'other' });
  });

  it.each<[Method, string, object, string]>([
    ['POST', 'file', { content: '' }, 'A file with this name already exists'],
    ['POST', 'file/below', { content: '' }, 'A file with this name already exists'],
    ['POST', 'lib', { content: '' }, 'A directory with this name already exists'],
    ['PUT', 'none', { content: '' }, "A file with this name doesn't exist"],
    ['PUT', 'lib', { content: '' }, "A file with this name doesn't exist"],
    ['PUT', 'file/below', { content: '' }, "A file with this name doesn't exist"],
    ['DELETE', 'none', {}, "A file with this name doesn't exist"],
    ['DELETE', 'lib', {}, "A file with this name doesn't exist"],
    ['POST', '.git/config', { content: '' }, "invalid path: '.git/config'"],
    ['POST', 'a//b', { content: '' }, "invalid path: 'a//b'"],
    ['POST', 'a\\b', { content: '' }, "invalid path: 'a\\b'"],
    ['POST', '.gitmodules', { content: '[submodule "x"]\n\turl = -u./payload\n' }, "invalid path: '.gitmodules'"],
    ['POST', 'new', { content: '', branch: 'none' }, 'You can only create or edit files when you are on a branch'],
    [
      'POST',
      'new',
      { content: '', branch: 'x', start_branch: 'none' },
      'You can only create or edit files when you are on a branch',
    ],
    [
      'POST',
      'new',
      { content: '', branch: 'other', start_branch: 'main' },
      "A branch called 'other' already exists. Switch to that branch in order to make changes",
    ],
    ...['-x', 'a..b', 'HEAD', 'refs/heads/x', 'a'.repeat(40), 'x'.repeat(300), 'a b'].map(
      (branch): [Method, string, object, string] => [
        'POST',
        'new',
        { content: '', branch, start_branch: 'main' },
        `Something went wrong when we tried to create '${branch}' for you: Branch name is invalid`,
      ],
    ),
    [
      'PUT',
      'file',
      { content: '', last_commit_id: 'a'.repeat(40) },
      'You are attempting to update a file that has changed since you started editing it.',
    ],
    [
      'DELETE',
      'file',
      { last_commit_id: 'nonsense' },
      'You are attempting to delete a file that has been previously updated.',
    ],
  ])('%s %s with %j', async (method, path, body, message) => {
    const { status, body: answer } = await send(method, at, path, body);
    expect([status, answer]).toEqual([400, { message }]);
    expect(gitIn(at.repository, ['rev-parse', 'main']).trim()).toBe(at.tip);
  });

  it('leave no object behind', async () => {
    const before = gitIn(at.repository, ['count-objects', '-v']);
    await send('POST', at, 'file', { content: 'never seen' });
    expect(gitIn(at.repository, ['count-objects', '-v'])).toBe(before);
  });

  it('compare the last commit of the file with the one that the caller knows', async () => {
    const other = await place({ file: 'x' });
    commitFiles(other.repository, { file: 'x', more: 'x' });
    const stale = await send('PUT', other, 'file', { content: 'y', last_commit_id: other.tip });
    expect(stale.status).toBe(200);
    const refused = await send('PUT', other, 'file', { content: 'z', last_commit_id: other.tip });
    expect(refused.status).toBe(400);
  });

  it('of a name that is a folder of another branch', async () => {
    const { status, body } = await send('POST', at, 'new', { content: '', branch: 'other/x', start_branch: 'main' });
    expect([status, body]).toEqual([
      400,
      { message: 'Could not update refs/heads/other/x. Please refresh and try again.' },
    ]);
  });

  it.each<[Method, string, object, string]>([
    ['POST', '../x', { content: '' }, 'file_path should be a valid file path'],
    ['POST', '/abs', { content: '' }, 'file_path should be a valid file path'],
    ['PUT', 'file', {}, 'content is missing'],
    ['POST', 'new', { content: '', branch: ' ' }, 'branch is empty'],
    ['POST', 'new', { content: '', commit_message: '' }, 'commit_message is empty'],
    ['POST', 'new', { content: '', encoding: 'hex' }, 'encoding does not have a valid value'],
    ['DELETE', 'file', { branch: null }, 'branch is missing'],
  ])('%s %s with the parameters %j', async (method, path, body, error) => {
    const answer = await send(method, at, path, body);
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });

  it('of archived projects and of tokens without the scope', async () => {
    const archived = await service.seed.project({ archived: true });
    await service.seed.member(writer, archived, 'maintainer');
    const made = { project: archived } as Place;
    const refused = await send('POST', made, 'x', { content: '' });
    expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }]);
    const scoped = { ...viewer, scopes: ['read_repository', 'write_repository'] };
    expect((await send('POST', at, 'x', { content: '' }, scoped)).status).toBe(403);
  });
});

it('lets one of several concurrent changes win each time, and loses none', async () => {
  const at = await place();
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, n) => send('POST', at, `f${n}`, { content: String(n) })),
  );
  const lost = answers.filter(({ status }) => status !== 201);
  for (const { status, body } of lost)
    expect([status, body]).toEqual([
      400,
      { message: 'Could not update refs/heads/main. Please refresh and try again.' },
    ]);
  const count = Number(gitIn(at.repository, ['rev-list', '--count', 'main']));
  expect(count).toBe(1 + answers.length - lost.length);
  expect(lost.length).toBeLessThan(answers.length);
});

describe('a protected branch', () => {
  const text = 'You are not allowed to push into this branch';

  it('refuses all changes of a developer in the same way, and nothing is written', async () => {
    const at = await place();
    // The first change protects the default branch.
    await send('POST', at, 'first', { content: '' });
    const developer = await service.seed.user();
    await service.seed.member(developer, at.project, 'developer');
    const by = service.seed.viewer(developer);
    const before = gitIn(at.repository, ['rev-parse', 'main']);
    for (const [method, path, body] of [
      ['POST', 'new', { content: '' }],
      ['POST', 'run', { content: '' }],
      ['PUT', 'run', { content: '' }],
      ['PUT', 'none', { content: '' }],
      ['DELETE', 'run', {}],
    ] as const) {
      const answer = await send(method, at, path, body, by);
      expect([answer.status, answer.body]).toEqual([400, { message: text }]);
    }
    const actions = [{ action: 'create', file_path: 'new', content: '' }];
    const commits = `/api/v4/projects/${at.project.id}/repository/commits`;
    const many = await service.app.as(by).post(commits).send({ branch: 'main', commit_message: 'm', actions });
    expect([many.status, many.body]).toEqual([403, { message: `403 Forbidden - ${text}` }]);
    expect(gitIn(at.repository, ['rev-parse', 'main'])).toBe(before);
    const other = await send('POST', at, 'new', { content: '', branch: 'other', start_branch: 'main' }, by);
    expect(other.status).toBe(201);
  });

  it('is the first one of a repository', async () => {
    const at = await place(null);
    const developer = await service.seed.user();
    await service.seed.member(developer, at.project, 'developer');
    const { status, body } = await send('POST', at, 'x', { content: '', branch: 'x' }, service.seed.viewer(developer));
    expect([status, body]).toEqual([400, { message: text }]);
  });
});

it('refuses a change of a branch that moved meanwhile', async () => {
  const at = await place();
  const other = commitFiles(at.repository, { x: 'x' }, { branch: 'other' }) as ObjectId;
  const update = { ref: 'refs/heads/main', oldId: at.tip as ObjectId, newId: other };
  expect(await updateRefs(at.repository, [update], { atomic: true })).toEqual([{ ref: update.ref, moved: true }]);
  const { body } = await send('PUT', at, 'run', { content: 'y' });
  expect(body).toEqual({ message: "A file with this name doesn't exist" });
});

describe('adding a file', () => {
  let hidden: DirectoryProject;
  let at: Place;
  let count = 0;
  beforeAll(async () => {
    at = await place();
    const group = await service.seed.group({ visibility: 'private' });
    hidden = await service.seed.project({ namespace_id: group.id, visibility: 'private' });
    commitFiles(await repositoryOf(service, hidden), { a: 'a' });
  });
  registerRefusalOrderTests(
    () => service.app,
    async () => {
      const [reporter, allowed] = [await service.seed.user(), await service.seed.user()];
      await service.seed.member(reporter, hidden, 'reporter');
      await service.seed.member(allowed, hidden, 'developer');
      return {
        method: 'POST',
        path: filePath({ project: hidden }, `f${++count}`),
        good: { branch: 'main', commit_message: 'm', content: 'x' },
        bad: { branch: '' },
        anonymous: service.seed.anonymous(),
        outsider: service.seed.viewer(await service.seed.user()),
        reader: service.seed.viewer(reporter),
        allowed: service.seed.viewer(allowed),
      };
    },
  );
  registerParameterEncodingTests({
    app: () => service.app,
    to: (encoding) => ({
      viewer,
      method: 'POST',
      path: filePath(at, encoding),
      params: { branch: 'main', commit_message: 'm', content: 'x', execute_filemode: true },
    }),
    seen: (body) => body['branch'],
    expected: 'main',
  });
});

describe.each<[Method, object]>([
  ['POST', { content: '' }],
  ['PUT', { content: '' }],
  ['DELETE', {}],
])('access to %s', (method, body) => {
  let count = 0;
  codeAccess('writes', {
    service: () => service,
    fill: (made) => {
      count = 0;
      commitFiles(made, Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`f${n}`, 'x'])));
    },
    ask: async (by, id) => {
      const path = method === 'POST' ? `new${count}` : `f${count}`;
      count += 1;
      return (await send(method, { project: { id } } as Place, path, body, by)).status;
    },
  });
});
