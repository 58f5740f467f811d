import { readdir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Call, FileAnswer, OpenRange, ProjectScope, StreamedCall } from '@rookery/api-v4';
import type { DirectoryProject } from '@rookery/contracts';
import { NotFound, Unavailable } from '@rookery/kernel';
import type { Visibility } from '@rookery/kernel';
import { runForWaiter } from '@rookery/platform';
import { GitClient } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { SmartHttpController } from '../../src/code/repositories/transport/smart-http.controller';
import type { ListAdvertisedRefs } from '../../src/code/repositories/transport/smart-http.dto';
import { startCollaboration } from '../support/app';
import { gitIn } from '../support/commits-fixture';
import { GitFront } from '../support/git-front';

let service: SeededService;
let front: GitFront;
let git: GitClient;
let maintainer: SeededUser;
let reporter: SeededUser;
let guest: SeededUser;
let at = 0;

beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  front = await new GitFront(service.app, () => service.seed.anonymous()).start();
  [maintainer, reporter, guest] = [await service.seed.user(), await service.seed.user(), await service.seed.user()];
  const viewer = (user: SeededUser, scopes: readonly string[] = ['api']) => service.seed.viewer(user, { scopes });
  front.accept('maintainer', () => viewer(maintainer));
  front.accept('reporter', () => viewer(reporter));
  front.accept('guest', () => viewer(guest));
  front.accept('downloads', () => viewer(maintainer, ['read_repository']));
  front.accept('uploads', () => viewer(maintainer, ['write_repository']));
  front.accept('reads-api', () => viewer(maintainer, ['read_api']));
});
afterAll(async () => {
  await front.stop();
  await git.close();
  await service.close();
});

interface Place {
  readonly project: DirectoryProject;
  readonly path: string;
  readonly folder: string;
}

async function place(visibility: Visibility = 'private', over: Partial<DirectoryProject> = {}): Promise<Place> {
  const group = await service.seed.group({ visibility });
  const project = await service.seed.project({ namespace_id: group.id, visibility, default_branch: null, ...over });
  await service.seed.member(maintainer, project, 'maintainer');
  await service.seed.member(reporter, project, 'reporter');
  await service.seed.member(guest, project, 'guest');
  return { project, path: `${group.full_path}/${project.path}`, folder: `work-${++at}` };
}

/** A project whose repository has one commit. */
async function createFilledPlace(
  visibility: Visibility = 'private',
  over: Partial<DirectoryProject> = {},
): Promise<Place> {
  const made = await place(visibility, over);
  await git.init(made.folder, front.url(`${made.path}.git`, 'maintainer'));
  await git.ok(made.folder, 'push', '--quiet', 'origin', 'main');
  return made;
}

const clone = (url: string, ...options: string[]) => git.run('.', 'clone', '--quiet', ...options, url, `clone-${++at}`);

it('creates the repository at the first clone, and serves what was pushed to the next', async () => {
  const { path, folder } = await place();
  const empty = await clone(front.url(`${path}.git`, 'maintainer'));
  expect(empty).toEqual({ code: 0, output: 'warning: You appear to have cloned an empty repository.\n' });
  await git.init(folder, front.url(`${path}.git`, 'maintainer'));
  const pushed = await git.ok(folder, 'push', 'origin', 'main');
  expect(pushed).toContain('[new branch]');
  expect((await clone(front.url(`${path}.git`, 'reporter'))).code).toBe(0);
  expect(await git.ok(`clone-${at}`, 'log', '--format=%s')).toBe('First\n');
});

it('serves protocols 0, 1 and 2, with and without .git', async () => {
  const { path } = await createFilledPlace();
  for (const version of [0, 1, 2])
    for (const name of [path, `${path}.git`]) {
      const url = front.url(name, 'reporter');
      const listed = await git.ok('.', '-c', `protocol.version=${version}`, 'ls-remote', url);
      expect(listed).toMatch(/^[0-9a-f]{40}\tHEAD\n[0-9a-f]{40}\trefs\/heads\/main\n$/);
    }
  const folder = `bare-name-${at}`;
  expect((await git.run('.', 'clone', '--quiet', front.url(path, 'maintainer'), folder)).code).toBe(0);
  await git.commit(folder, 'Second');
  expect((await git.run(folder, 'push', 'origin', 'main')).code).toBe(0);
});

it('serves shallow and partial clones, and commits by id', async () => {
  const { path, folder } = await createFilledPlace();
  for (const title of ['Second', 'Third']) await git.commit(folder, title);
  await git.ok(folder, 'push', '--quiet', 'origin', 'main');
  const url = front.url(`${path}.git`, 'reporter');
  expect((await clone(url, '--depth=1')).code).toBe(0);
  expect(await git.ok(`clone-${at}`, 'log', '--format=%s')).toBe('Third\n');
  await git.ok(`clone-${at}`, 'fetch', '--quiet', '--deepen=1');
  expect(await git.ok(`clone-${at}`, 'log', '--format=%s')).toBe('Third\nSecond\n');
  await git.ok(`clone-${at}`, 'fetch', '--quiet', '--unshallow');
  expect((await clone(url, '--filter=blob:none', '--no-checkout')).code).toBe(0);
  expect(await git.ok(`clone-${at}`, 'show', 'HEAD~1:README.md')).toBe('Second\n');
  const first = (await git.ok(folder, 'rev-parse', 'HEAD~2')).trim();
  await git.ok('.', 'init', '--quiet', `by-id-${at}`);
  await git.ok(`by-id-${at}`, 'fetch', '--quiet', '--depth=1', url, first);
  expect(await git.ok(`by-id-${at}`, 'log', '--format=%s', 'FETCH_HEAD')).toBe('First\n');
});

it('serves many clones and pushes of one repository at once, which stays whole', async () => {
  const { project, path, folder } = await createFilledPlace();
  const commits: string[] = [];
  for (let n = 0; n < 6; n += 1) commits.push(await git.commit(folder, `Commit ${n}`));
  const numbers = Array.from({ length: 10 }, (_, n) => n);
  const url = front.url(`${path}.git`, 'reporter');
  const clones = numbers.map((n) => git.run('.', 'clone', '--quiet', '--bare', url, `one-of-many-${n}`));
  const pushes = commits.map((id, n) => git.run(folder, 'push', '--quiet', 'origin', `${id}:refs/heads/topic-${n}`));
  const outcomes = await Promise.all([...clones, ...pushes]);
  expect(outcomes.filter(({ code }) => code !== 0)).toEqual([]);
  const repository = await service.app
    .get(ProjectRepositories)
    .openRepository({ id: project.id, defaultBranch: 'main' });
  expect(
    gitIn(repository, ['for-each-ref', '--format=%(objectname)', 'refs/heads/topic-*']).trim().split('\n'),
  ).toEqual(commits);
  expect(gitIn(repository, ['fsck', '--strict', '--no-dangling'])).toBe('');
  const files = await readdir(repository.directory, { recursive: true });
  expect(files.filter((name) => /tmp_|\.lock$/.test(name))).toEqual([]);
});

it('takes chunked pushes, gzip negotiations, push options, tags, forced pushes and deletions', async () => {
  const { path, folder } = await createFilledPlace();
  await git.ok(folder, 'config', 'http.postBuffer', '65536');
  const { randomBytes } = await import('node:crypto');
  const { writeFile } = await import('node:fs/promises');
  await writeFile(`${git.folder}/${folder}/large.bin`, randomBytes(3 * 1024 * 1024));
  await git.ok(folder, 'add', 'large.bin');
  await git.ok(folder, 'commit', '--quiet', '-m', 'Large');
  await git.ok(folder, 'push', '--quiet', '-o', 'ci.skip', 'origin', 'main', 'main:other');
  await git.ok(folder, 'tag', '-a', '-m', 'One', 'v1');
  for (let tag = 0; tag < 5; tag++) await git.ok(folder, 'tag', `t${tag}`);
  await git.ok(folder, 'push', '--quiet', '--tags', 'origin');
  await git.ok(folder, 'commit', '--quiet', '--amend', '-m', 'Larger');
  await git.ok(folder, 'push', '--quiet', '--force', 'origin', 'main:other');
  await git.ok(folder, 'push', '--quiet', 'origin', ':other');
  const warned = await git.ok(folder, 'push', '-o', 'merge_request.title=New', 'origin', 'main:third');
  expect(warned).toContain("remote: Error encountered with push options 'merge_request.title=New': ");
  // The negotiation with many unknown commits is compressed.
  await git.ok('.', 'clone', '--quiet', front.url(`${path}.git`, 'reporter'), `many-${at}`);
  for (let index = 0; index < 24; index++)
    await git.ok(`many-${at}`, 'commit', '--quiet', '--allow-empty', '-m', 'Mine');
  await git.commit(folder, 'Theirs');
  await git.ok(folder, 'push', '--quiet', 'origin', 'main:theirs');
  await git.ok(`many-${at}`, '-c', 'protocol.version=0', 'fetch', '--quiet', 'origin');
  expect(await git.ok(`many-${at}`, 'log', '-1', '--format=%s', 'origin/theirs')).toBe('Theirs\n');
});

describe('access', () => {
  it.each(['advertise', 'upload'] as const)(
    'is rechecked after %s has waited for a free git process',
    async (handler) => {
      const { project, path } = await createFilledPlace();
      const controller = service.app.get(SmartHttpController);
      const request = {
        params: { full_path: path, service: 'git-upload-pack' },
        within: { ...project, level: 20, fullPath: path, defaultBranch: 'main' } as unknown as ProjectScope,
        viewer: service.seed.viewer(reporter),
        body: Readable.from(['0000'], { objectMode: false }),
      } as unknown as Call<ListAdvertisedRefs, ProjectScope> & StreamedCall<ListAdvertisedRefs, ProjectScope>;
      let isLost = false;
      const rights = {
        recheckBeforeRead: () => (isLost ? Promise.reject(new NotFound('Project')) : null),
        recheckBeforeWrite: () => null,
        validForMs: () => 1000,
        recordCommit: () => undefined,
      };
      const ask = async (): Promise<unknown> => {
        const { stream }: FileAnswer = await controller[handler](request);
        isLost = true;
        return (stream as () => Promise<Readable>)();
      };
      const waiter = { kind: 'client', deadline: Date.now() + 60_000, rights } as const;
      await expect(runForWaiter(waiter, ask)).rejects.toThrow(NotFound);
    },
  );

  it.each(['advertise', 'upload', 'receive'] as const)(
    'is not waited for after the client of %s has left',
    async (handler) => {
      const { project, path } = await createFilledPlace();
      const request = {
        params: { full_path: path, service: 'git-upload-pack' },
        within: { ...project, fullPath: path, defaultBranch: 'main', namespace: { plan: 'default' } },
        viewer: service.seed.viewer(maintainer),
        body: Readable.from(['0000'], { objectMode: false }),
      } as unknown as Call<ListAdvertisedRefs, ProjectScope> & StreamedCall<ListAdvertisedRefs, ProjectScope>;
      const { stream }: FileAnswer = await service.app.get(SmartHttpController)[handler](request);
      const gone = AbortSignal.abort(new Unavailable('gone'));
      await expect((async () => (stream as OpenRange)(null, gone))()).rejects.toThrow(Unavailable);
    },
  );

  it('asks anonymous callers for a credential wherever they see nothing, and serves public code', async () => {
    const [hidden, open] = [await createFilledPlace('private'), await createFilledPlace('public')];
    for (const path of [hidden.path, 'nowhere/at-all']) {
      const refused = await clone(front.url(`${path}.git`));
      expect(refused.code).toBe(128);
      expect(refused.output).toContain('could not read Username');
    }
    expect((await clone(front.url(`${open.path}.git`))).code).toBe(0);
    const { output } = await git.run(open.folder, 'push', front.url(`${open.path}.git`), 'main:x');
    expect(output).toContain('could not read Username');
    const answer = await fetch(front.url(`${hidden.path}.git/info/refs?service=git-upload-pack`));
    expect([answer.status, answer.headers.get('www-authenticate'), answer.headers.get('content-type')]).toEqual([
      401,
      'Basic realm="Rookery"',
      'text/plain; charset=utf-8',
    ]);
    expect(await answer.text()).toMatch(/^HTTP Basic: Access denied\./);
  });

  it('answers a member without the right to read code, or to push, in words', async () => {
    const { path, folder } = await createFilledPlace();
    expect((await clone(front.url(`${path}.git`, 'guest'))).output).toContain(
      'remote: You are not allowed to download code from this project.',
    );
    const pushed = await git.run(folder, 'push', front.url(`${path}.git`, 'reporter'), 'main:x');
    expect(pushed.output).toContain('remote: You are not allowed to push code to this project.');
    expect((await clone(front.url('nowhere/at-all.git', 'guest'))).output).toContain(
      "remote: The project you were looking for could not be found or you don't have permission to view it.",
    );
  });

  it('requires a scope for code', async () => {
    const { path, folder } = await createFilledPlace();
    expect((await clone(front.url(`${path}.git`, 'downloads'))).code).toBe(0);
    const refused = await git.run(folder, 'push', front.url(`${path}.git`, 'downloads'), 'main:x');
    expect(refused.output).toContain('remote: You are not allowed to upload code.');
    expect((await git.run(folder, 'push', front.url(`${path}.git`, 'uploads'), 'main:x')).code).toBe(0);
    expect((await clone(front.url(`${path}.git`, 'reads-api'))).output).toContain(
      'remote: You are not allowed to download code.',
    );
  });

  it('keeps archived projects readable, and refuses pushes to them', async () => {
    const { path, project, folder } = await createFilledPlace();
    await service.seed.put('projects', { ...project, archived: true });
    expect((await clone(front.url(`${path}.git`, 'maintainer'))).code).toBe(0);
    await git.commit(folder, 'Second');
    const refused = await git.run(folder, 'push', front.url(`${path}.git`, 'maintainer'), 'main');
    expect(refused.output).toContain("remote: You can't push code to an archived project.");
  });

  it('refuses what is no smart request', async () => {
    const { path } = await createFilledPlace('public');
    const ask = async (suffix: string, password?: string, method = 'GET') => {
      const authorization = password && `Basic ${Buffer.from(`x:${password}`).toString('base64')}`;
      const headers = authorization ? { authorization } : undefined;
      const answer = await fetch(front.url(`${path}.git${suffix}`), { method, ...(headers ? { headers } : {}) });
      return [answer.status, await answer.text()];
    };
    const odd = "The command you're trying to execute is not allowed.\n";
    expect(await ask('/info/refs', 'maintainer')).toEqual([403, odd]);
    expect(await ask('/info/refs?service=git-upload-archive', 'maintainer')).toEqual([403, odd]);
    expect((await ask('/info/refs'))[0]).toBe(401);
    expect((await ask('/HEAD', 'maintainer'))[0]).toBe(404);
    expect(await ask('/info/refs?service=git-upload-pack', 'maintainer', 'HEAD')).toEqual([403, '']);
  });

  it('answers Git LFS after the access check', async () => {
    const { path } = await createFilledPlace();
    const ask = async (method: string, suffix: string, password?: string) => {
      const authorization = password && `Basic ${Buffer.from(`x:${password}`).toString('base64')}`;
      const headers = { 'content-type': 'application/vnd.git-lfs+json', ...(authorization ? { authorization } : {}) };
      const init = method === 'GET' ? { headers } : { method, headers, body: '{}' };
      const answer = await fetch(front.url(`${path}.git/info/lfs/${suffix}`), init);
      return [answer.status, answer.headers.get('content-type'), await answer.text()];
    };
    const text = '{"message":"Git LFS is not enabled on this server, contact your admin."}';
    const refused = [501, 'application/vnd.git-lfs+json', text];
    expect(await ask('POST', 'objects/batch', 'maintainer')).toEqual(refused);
    expect(await ask('GET', 'locks', 'maintainer')).toEqual(refused);
    expect(await ask('POST', 'locks', 'maintainer')).toEqual(refused);
    expect(await ask('POST', 'locks/verify', 'maintainer')).toEqual(refused);
    expect((await ask('POST', 'objects/batch'))[0]).toBe(401);
  });
});
