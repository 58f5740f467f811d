import type { HostedList, HostedRepository } from '@rookery/testing';
import { ImportScene } from '../support/scene';

let scene: ImportScene;
beforeAll(async () => void (scene = await ImportScene.open()));
afterEach(() => {
  scene.host.answer = null;
  scene.inside.beforePush = async () => undefined;
  scene.inside.onObjects = async () => ({ failed: [] });
});
afterAll(() => scene.close());

const LISTS = [
  ...([
    'labels',
    'milestones',
    'releases',
    'issues',
    'pulls',
    'pulls/comments',
    'issues/comments',
    'branches',
  ] as const),
] as const satisfies HostedList[];
const KINDS = [
  ...(['label', 'milestone', 'release', 'issue', 'merge_request'] as const),
  ...(['review', 'diff_note', 'issue_event', 'note', 'protected_branch'] as const),
];
const created_at = '2024-01-02T03:04:05Z';
const user = { id: 11, login: 'robin' };
const objectsByList = (at: number): Readonly<Record<(typeof LISTS)[number], Readonly<Record<string, unknown>>>> => ({
  labels: { name: `label-${at}`, color: 'd73a4a' },
  milestones: { number: at, title: `v${at}`, state: 'open', created_at },
  issues: { number: at, title: `Issue ${at}`, body: 'Text', state: 'open', user, created_at },
  pulls: {
    ...{
      number: at + 10,
      title: `Change ${at}`,
      body: 'Text',
      state: 'closed',
      user,
      created_at,
      merged_at: created_at,
    },
    ...{ head: { ref: 'x', sha: 'a' }, base: { ref: 'main', sha: 'b' } },
  },
  releases: { id: at, tag_name: `v${at}`, name: null, body: null, draft: false, created_at, author: user },
  branches: { name: `b${at}`, protection: { allow_force_pushes: { enabled: true } } },
  'pulls/comments': {
    ...{ id: at, body: 'Text', user, created_at, path: 'a', line: 1, side: 'RIGHT', commit_id: 'a' },
    pull_request_url: `https://x/api/v3/repos/wren/y/pulls/${at + 10}`,
  },
  'issues/comments': {
    id: at,
    body: 'Text',
    user,
    created_at,
    html_url: `https://x/wren/y/issues/${at}#issuecomment-1`,
  },
});

const reviewOf = (at: number) => ({
  ...{ id: at, user, state: 'APPROVED', body: '', submitted_at: created_at },
  html_url: `https://x/wren/y/pull/${at + 10}#pullrequestreview-${at}`,
});

function fillRepository(repository: HostedRepository): void {
  for (const list of LISTS)
    scene.host.put(
      repository,
      list,
      [1, 2, 3].map((at) => objectsByList(at)[list]),
    );
  for (const at of [1, 2, 3]) {
    scene.host.put(repository, `pulls/${at + 10}/reviews`, [reviewOf(at)]);
    scene.host.put(repository, `issues/${at}/timeline`, [{ id: at, event: 'closed', actor: user, created_at }]);
  }
}

/** Boundaries at which a process dies: before a list is read, and after a push or a page was stored. */
const BOUNDARIES = [
  ['after the push', 'push', 1],
  ...LISTS.flatMap((list) => [1, 2].map((page) => [`before page ${page} of ${list}`, `read ${list}`, page] as const)),
  ...KINDS.flatMap((kind) =>
    [1, 2].map((page) => [`after page ${page} of kind ${kind}`, `wrote ${kind}`, page] as const),
  ),
] as const;

it.each(BOUNDARIES)('continues with the same result when it is killed %s', async (name, boundary, wanted) => {
  const repository = await scene.host.add(`up-${name.replaceAll(/\W+/g, '-')}`);
  fillRepository(repository);
  await scene.host.git.ok(repository.name, 'push', '--quiet', 'origin', 'HEAD:refs/pull/11/head');
  const { importId, projectId } = await scene.started(
    name.replaceAll(/\W+/g, '-'),
    { pagination_limit: 2 },
    repository,
  );
  const death = new AbortController();
  let reached = 0;
  const reach = (point: string): void => {
    if (point === boundary && ++reached === wanted) death.abort(new Error('killed'));
  };
  scene.inside.beforePush = async () => reach('push');
  scene.inside.onObjects = async ({ kind }) => {
    reach(`wrote ${kind}`);
    // Collaboration has stored the page, and the import service dies before it can record that.
    death.signal.throwIfAborted();
    return { failed: [] };
  };
  scene.host.answer = (request) => {
    const list = /\/repos\/wren\/[^/]+\/([^?]+)/.exec(request.url!)?.[1];
    if (list !== undefined) reach(`read ${list}`);
    return false;
  };
  await expect(scene.run(importId, 1, death.signal)).rejects.toThrow('killed');
  expect(await scene.row(importId)).toMatchObject({ state: 'started' });
  scene.inside.onObjects = async () => ({ failed: [] });
  await scene.run(importId, 2);
  const { body } = await scene.as(scene.owner).get(`/api/v4/projects/${projectId}/import`).expect(200);
  const counts = {
    label: 3,
    milestone: 3,
    release: 3,
    issue: 3,
    merge_request: 3,
    review: 3,
    diff_note: 3,
    note: 3,
    protected_branch: 3,
  };
  expect(body).toMatchObject({
    ...{ import_status: 'finished', failed_relations: [] },
    stats: { fetched: counts, imported: counts },
  });
  const refs = await scene.refs(scene.inside.repositoryOf(projectId));
  const upstream = await scene.refs(`${repository.full_name}.git`);
  expect(refs).toEqual(upstream.map((ref) => ref.replace(/^refs\/pull\/(\d+)\/head/, 'refs/imports/$1')));
  // At most the page that was interrupted is sent twice; collaboration stores it once.
  const sent = scene.inside.objects.filter(({ project_id: id }) => id === projectId);
  const texts = sent.flatMap((request) => request.objects.map((object) => JSON.stringify([request.kind, object])));
  expect(new Set(texts).size).toBe(30);
  expect(texts.length).toBeLessThanOrEqual(32);
});
