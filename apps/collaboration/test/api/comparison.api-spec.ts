import type { DirectoryProject } from '@rookery/contracts';
import type { ObjectId, Repository } from '@rookery/git';
import type { Viewer } from '@rookery/kernel';
import { registerListPagingTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import type { Response } from 'supertest';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { startCollaboration } from '../support/app';
import { commitFiles, gitIn } from '../support/commits-fixture';

let service: SeededService;
let reader: Viewer;

beforeAll(async () => {
  service = await startCollaboration();
  reader = service.seed.viewer(await service.seed.user());
});
afterAll(() => service.close());

interface Place {
  readonly project: DirectoryProject;
  readonly repository: Repository;
  readonly path: string;
}

async function place(): Promise<Place> {
  const group = await service.seed.group();
  const project = await service.seed.project({ namespace_id: group.id });
  const repository = await service.app
    .get(ProjectRepositories)
    .openRepository({ id: project.id, defaultBranch: 'main' });
  return { project, repository, path: `/api/v4/projects/${project.id}/repository` };
}

const get = (path: string, query: object = {}): Promise<Response> => service.app.as(reader).get(path).query(query);
const statusAndBody = async (path: string, query: object): Promise<unknown[]> => {
  const { status, body } = await get(path, query);
  return [status, body];
};

describe('a comparison', () => {
  let path: string;
  let project: DirectoryProject;
  let ids: Record<'root' | 'main' | 'side' | 'later' | 'alone', ObjectId>;

  beforeAll(async () => {
    const made = await place();
    ({ path, project } = made);
    const { repository } = made;
    const root = commitFiles(repository, { a: 'a\n' });
    const main = commitFiles(repository, { a: 'main\n' });
    const side = commitFiles(repository, { a: 'a\n', b: 'b\n' }, { branch: 'feature/ü', parents: [root] });
    const later = commitFiles(repository, { a: 'a\n', b: 'c\n' }, { branch: 'feature/ü' });
    const alone = commitFiles(repository, { z: 'z\n' }, { branch: 'alone' });
    ids = { root, main, side, later, alone };
    gitIn(repository, ['tag', '-a', '-m', 'm', 'v1', root]);
  });
  const compare = async (from: string, to: string, query: object = {}) => {
    const { status, body } = await get(`${path}/compare`, { from, to, ...query });
    expect(status).toBe(200);
    return body as Record<string, unknown> & { commits: { id: string }[]; diffs: Record<string, string>[] };
  };

  it('has the commits of one side and the changes since the merge base', async () => {
    const body = await compare('main', 'feature/ü');
    expect(body.commits.map(({ id }) => id)).toEqual([ids.side, ids.later]);
    expect(body['commit']).toEqual(body.commits[1]);
    expect(body.diffs.map(({ new_path: name, diff }) => [name, diff])).toEqual([['b', '@@ -0,0 +1 @@\n+c\n']]);
    expect(body).toMatchObject({ compare_timeout: false, compare_same_ref: false });
    expect(String(body['web_url'])).toMatch(new RegExp(`/${project.path}/-/compare/${ids.main}\\.\\.\\.${ids.later}$`));
    expect(Object.keys(body)).toEqual(['commit', 'commits', 'diffs', 'compare_timeout', 'compare_same_ref', 'web_url']);
  });

  it('compares both sides directly with `straight`', async () => {
    const body = await compare(ids.main.slice(0, 9), 'feature/ü', { straight: true });
    expect(body.commits).toHaveLength(2);
    expect(body.diffs.map(({ new_path: name }) => name)).toEqual(['a', 'b']);
    const [first] = (await compare('v1', 'main', { unidiff: 'true' })).diffs;
    expect(first!['diff']).toBe('--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+main\n');
  });

  it('is empty for equal refs, and from newer to older', async () => {
    const empty = { commit: null, commits: [], diffs: [] };
    expect(await compare('v1', ids.root)).toMatchObject({ ...empty, compare_same_ref: true });
    expect(await compare('main', 'v1')).toMatchObject({ ...empty, compare_same_ref: false });
  });

  it('takes refs without a common ancestor', async () => {
    const body = await compare('alone', 'v1');
    expect(body.commits.map(({ id }) => id)).toEqual([ids.root]);
    expect(body.diffs.map(({ new_path: name }) => name)).toEqual(['a', 'z']);
  });

  it('refuses unknown refs and foreign projects', async () => {
    const to = 'main';
    for (const from of ['none', '', '-x', 'a b', 'HEAD~1', 'a'.repeat(40), '../x']) {
      expect(await statusAndBody(`${path}/compare`, { from, to })).toEqual([404, { message: '404 Ref Not Found' }]);
      expect(await statusAndBody(`${path}/compare`, { from: to, to: from })).toEqual([
        404,
        { message: '404 Ref Not Found' },
      ]);
    }
    expect(await statusAndBody(`${path}/compare`, {})).toEqual([400, { error: 'from is missing, to is missing' }]);
    expect(await statusAndBody(`${path}/compare`, { from: to, to, straight: 'x' })).toEqual([
      400,
      { error: 'straight is invalid' },
    ]);
    const other = (await place()).project.id;
    expect(await statusAndBody(`${path}/compare`, { from: to, to, from_project_id: other })).toEqual([
      400,
      { message: `Target project id:${other} is not a fork of project id:${project.id}` },
    ]);
    expect((await compare(to, to, { from_project_id: project.id }))['compare_same_ref']).toBe(true);
  });

  it('looks up the older side in another project of the fork network, whose code the caller reads', async () => {
    const [origin, elsewhere] = [await place(), await place()];
    const root = commitFiles(origin.repository, { a: 'a\n' });
    const fork = { project_id: origin.project.id, network_id: origin.project.id, branch: null };
    const forked = await service.seed.project({ fork });
    const repository = await service.app
      .get(ProjectRepositories)
      .openRepository({ id: forked.id, defaultBranch: 'main', fork });
    const own = commitFiles(repository, { a: 'a\n', b: 'b\n' });
    commitFiles(origin.repository, { a: 'a\n', c: 'c\n' });
    const forkPath = `/api/v4/projects/${forked.id}/repository/compare`;
    const query = { from: 'main', to: 'main', from_project_id: origin.project.id };
    const { body } = await get(forkPath, query);
    expect(body.commits.map(({ id }: { id: string }) => id)).toEqual([own]);
    expect(body.diffs.map(({ new_path: name }: { new_path: string }) => name)).toEqual(['b']);
    const straight = await get(forkPath, { ...query, straight: true });
    expect(straight.body.diffs.map(({ new_path: name }: { new_path: string }) => name)).toEqual(['b', 'c']);
    expect((await get(`${origin.path}/commits/${own}`)).status).toBe(404);
    const outside = await get(forkPath, { ...query, from_project_id: elsewhere.project.id });
    expect(outside.body).toEqual({
      message: `Target project id:${elsewhere.project.id} is not a fork of project id:${forked.id}`,
    });
    const closed = await service.seed.project({ fork, repository_access_level: 'disabled' });
    const unreadable = await get(forkPath, { ...query, from_project_id: closed.id });
    expect([unreadable.status, unreadable.body]).toEqual([
      403,
      { message: "403 Forbidden - You don't have access to this fork's parent project" },
    ]);
    const hidden = await service.seed.project({ fork, visibility: 'private' });
    expect((await get(forkPath, { ...query, from_project_id: hidden.id })).status).toBe(400);
    expect((await get(forkPath, { ...query, from: root })).body.commits).toHaveLength(1);
  });

  it('says that a large diff is cut', async () => {
    const made = await place();
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 'x'.repeat(190 * 1024)]));
    commitFiles(made.repository, { a: 'a' });
    commitFiles(made.repository, files, { branch: 'large' });
    const { body } = await get(`${made.path}/compare`, { from: 'main', to: 'large' });
    expect(body.compare_timeout).toBe(true);
    expect(body.diffs.at(-1)).toMatchObject({ too_large: true, collapsed: false, diff: '' });
    expect(body.diffs[0]).toMatchObject({ too_large: false });
  });
});

describe('a merge base', () => {
  it('is the common ancestor of all refs', async () => {
    const { repository, path } = await place();
    const root = commitFiles(repository, { a: 'a' }, { message: 'Root' });
    const next = commitFiles(repository, { a: 'b' });
    commitFiles(repository, { c: 'c' }, { branch: 'x', parents: [next] });
    commitFiles(repository, { d: 'd' }, { branch: 'y,z', parents: [root] });
    commitFiles(repository, { e: 'e' }, { branch: 'alone' });
    const base = async (query: string) => {
      const { status, body } = await get(`${path}/merge_base?${query}`);
      return [status, status === 200 ? body.id : body];
    };
    expect(await base('refs[]=main&refs[]=x')).toEqual([200, next]);
    expect(await base('refs=main,x')).toEqual([200, next]);
    expect(await base('refs[]=main&refs[]=x&refs[]=y%2Cz')).toEqual([200, root]);
    expect(await base(`refs[]=main&refs[]=${next}`)).toEqual([200, next]);
    expect(await base('refs[]=main&refs[]=alone')).toEqual([404, { message: '404 Merge Base Not Found' }]);
    expect(await base('refs[]=main')).toEqual([400, { message: 'Provide at least 2 refs' }]);
    expect(await base('refs=')).toEqual([400, { message: 'Provide at least 2 refs' }]);
    expect(await base('refs[]=main&refs[]=no')).toEqual([400, { message: 'Could not find ref: no' }]);
    expect(await base('refs[]=--all&refs[]=no')).toEqual([400, { message: 'Could not find refs: --all, no' }]);
    expect(await base('')).toEqual([400, { error: 'refs is missing' }]);
    const { body } = await get(`${path}/merge_base`, { refs: 'main,y' });
    expect(body).toEqual({ message: 'Could not find ref: y' });
    const found = await get(`${path}/merge_base?refs[]=y%2Cz&refs[]=main`);
    expect(found.body).toMatchObject({ id: root, title: 'Root', message: 'Root' });
    expect(found.body).not.toHaveProperty('stats');
  });
});

describe('contributors', () => {
  let made: Place;
  beforeAll(async () => {
    made = await place();
    const { repository } = made;
    const by = (author: string, files: Record<string, string>, o = {}) =>
      commitFiles(repository, files, { author, ...o });
    const root = by('Cleo <c@example.org>', { a: '1' });
    for (const email of ['B@example.org', 'b@Example.org', 'b@example.org']) by(`Ben <${email}>`, { a: email });
    const main = by('Ada <a@example.org>', { a: '2' });
    by('Ada <a@example.org>', { a: '3' });
    by('Dan <d@example.org>', { b: '3' }, { branch: 'side', parents: [root] });
    const others = ['e', 'f'].map((name) => by(`${name} <${name}@example.org>`, { a: name }));
    commitFiles(repository, { a: 'm' }, { author: 'Merger <m@example.org>', parents: [others[1]!, main] });
  });
  const list = async (query: object = {}) => {
    const { status, body } = await get(`${made.path}/contributors`, query);
    expect(status).toBe(200);
    return (body as { name: string; commits: number }[]).map(({ name, commits }) => `${name} ${commits}`);
  };

  it('are counted by e-mail without merges, in every order', async () => {
    expect(await list()).toEqual(['Cleo 1', 'e 1', 'f 1', 'Ada 2', 'Ben 3']);
    expect(await list({ sort: 'desc' })).toEqual(['Ben 3', 'Ada 2', 'f 1', 'e 1', 'Cleo 1']);
    expect(await list({ order_by: 'email' })).toEqual(['Ada 2', 'Ben 3', 'Cleo 1', 'e 1', 'f 1']);
    expect(await list({ order_by: 'name', sort: 'desc' })).toEqual(['f 1', 'e 1', 'Cleo 1', 'Ben 3', 'Ada 2']);
    expect(await list({ ref: 'side' })).toEqual(['Cleo 1', 'Dan 1']);
    expect(await list({ ref: '' })).toHaveLength(5);
    const { body } = await get(`${made.path}/contributors`, { ref: 'side', per_page: 1 });
    expect(body).toEqual([{ name: 'Cleo', email: 'c@example.org', commits: 1, additions: 0, deletions: 0 }]);
  });

  it('follow a branch that moves', async () => {
    commitFiles(made.repository, { b: '4' }, { author: 'Dan <d@example.org>', branch: 'side' });
    expect(await list({ ref: 'side' })).toEqual(['Cleo 1', 'Dan 2']);
  });

  it('are none in an empty repository, and 404 for an unknown ref', async () => {
    const { path } = await place();
    expect(await statusAndBody(`${path}/contributors`, {})).toEqual([200, []]);
    expect(await statusAndBody(`${path}/contributors`, { ref: 'main' })).toEqual([404, { message: '404 Not Found' }]);
    expect(await statusAndBody(`${made.path}/contributors`, { ref: '-x' })).toEqual([
      404,
      { message: '404 Not Found' },
    ]);
    expect(await statusAndBody(`${made.path}/contributors`, { sort: 'x' })).toEqual([
      400,
      { error: 'sort does not have a valid value' },
    ]);
  });

  registerListPagingTests(() => ({
    app: service.app,
    viewer: reader,
    path: `${made.path}/contributors`,
    query: { order_by: 'email' },
    rows: 5,
    key: (row) => row['email'],
  }));
});
