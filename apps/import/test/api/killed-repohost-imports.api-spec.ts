import type { IncomingMessage } from 'node:http';
import { RepohostCloud, RepohostServer } from '@rookery/testing';
import { ImportScene } from '../support/scene';

let scene: ImportScene;
let server: RepohostServer;
let cloud: RepohostCloud;
beforeAll(async () => {
  server = await RepohostServer.start();
  cloud = await RepohostCloud.start();
  server.largestPage = cloud.largestPage = 2;
  scene = await ImportScene.open({ IMPORT_REPOHOST_API_URL: cloud.apiUrl }, [server.host, cloud.host]);
});
afterEach(() => stopWatching());
afterAll(async () => {
  await scene.close();
  await server.host.stop();
  await cloud.host.stop();
});

type HostKind = 'server' | 'service';
const NUMBERS = [1, 2, 3];
const AT = Date.UTC(2024, 0, 2);
const created_on = new Date(AT).toISOString();
const robin = { id: 11, slug: 'robin', uuid: '{robin}', nickname: 'robin' };

async function fillServer(slug: string): Promise<void> {
  const repository = await server.add(slug);
  const ref = (name: string) => ({ id: `refs/heads/${name}`, latestCommit: 'a'.repeat(40), repository: { id: 1 } });
  const author = { user: robin };
  server.putPullRequests(
    repository,
    NUMBERS.map((id) => ({
      ...{ id, title: `Change ${id}`, state: 'MERGED', author, createdDate: AT },
      ...{ fromRef: ref('feature'), toRef: ref('main') },
    })),
  );
  for (const id of NUMBERS) {
    const comment = (at: number) => ({ id: 10 * id + at, text: 'Text', author: robin, createdDate: AT });
    server.putActivities(repository, id, [
      { id: 100 + id, action: 'MERGED', user: robin, createdDate: AT },
      { id: 200 + id, action: 'APPROVED', user: robin, createdDate: AT },
      { action: 'COMMENTED', comment: comment(1) },
      { action: 'COMMENTED', comment: comment(2), commentAnchor: { path: 'a', line: 1, toHash: 'a'.repeat(40) } },
    ]);
  }
}

async function fillService(slug: string): Promise<void> {
  const repository = await cloud.add(slug);
  const end = (name: string) => ({ branch: { name }, commit: { hash: 'a'.repeat(12) } });
  const comment = (id: number, over = {}) => ({ id, content: { raw: 'Text' }, user: robin, created_on, ...over });
  cloud.put(
    repository,
    'issues',
    NUMBERS.map((id) => ({ id, title: `Issue ${id}`, state: 'new', reporter: robin, created_on })),
  );
  cloud.put(
    repository,
    'pullrequests',
    NUMBERS.map((id) => ({
      ...{ id, title: `Change ${id}`, state: 'OPEN', author: robin, created_on },
      ...{ source: end('feature'), destination: end('main') },
    })),
  );
  for (const id of NUMBERS) {
    cloud.put(repository, `issues/${id}/comments`, [comment(10 * id)]);
    cloud.put(repository, `pullrequests/${id}/activity`, [{ approval: { date: created_on, user: robin } }]);
    cloud.put(repository, `pullrequests/${id}/comments`, [
      comment(10 * id),
      comment(10 * id + 1, { inline: { path: 'a', to: 1 } }),
    ]);
  }
}

async function startImport(kind: HostKind, slug: string) {
  await (kind === 'server' ? fillServer(slug) : fillService(slug));
  const { id: projectId } = await scene.prepareProject(slug);
  const { username, token, url } = kind === 'server' ? server.host : cloud.host;
  const ofServer = {
    ...{ repohost_server_url: url, repohost_server_username: username, personal_access_token: token },
    ...{ repohost_server_project: server.key, repohost_server_repo: slug },
  };
  const ofService = {
    ...{ cloudrepo_username: username, cloudrepo_app_password: token, repo_path: `${cloud.workspace}/${slug}` },
    target_namespace: scene.owner.username,
  };
  const path = kind === 'server' ? '/api/v4/import/repohost_server' : '/api/v4/import/repohost';
  await scene
    .as(scene.owner)
    .post(path)
    .send(kind === 'server' ? ofServer : ofService)
    .expect(201);
  return { projectId, importId: await scene.importOf(projectId) };
}

/** Objects that both runs have sent, without repetitions. */
const countSentObjects = (projectId: number) => {
  const own = scene.inside.objects.filter(({ project_id: id }) => id === projectId);
  const texts = own.flatMap(({ kind, objects }) => objects.map((object) => JSON.stringify([kind, object])));
  return new Set(texts).size;
};
/** Merge requests, reviews, comments on lines and notes; the service has issues and their comments, too. */
const WANTED: Readonly<Record<HostKind, number>> = { server: 12, service: 18 };

/** Calls back at each request to a host, before the push, and after collaboration has stored objects. */
function watchRequests(reach: (point: string) => void, assertAlive: () => void): void {
  const answer = (request: IncomingMessage): false => {
    reach(`read ${request.url!.split('?')[0]!.split('/').slice(-1)[0]!.replace(/^\d+$/, 'one')}`);
    return false;
  };
  server.host.answer = cloud.host.answer = answer;
  scene.inside.beforePush = async () => reach('push');
  scene.inside.onObjects = async ({ kind }) => {
    reach(`wrote ${kind}`);
    assertAlive();
    return { failed: [] };
  };
}

function stopWatching(): void {
  server.host.answer = cloud.host.answer = null;
  scene.inside.beforePush = async () => undefined;
  scene.inside.onObjects = async () => ({ failed: [] });
}

async function expectCompleteImport(kind: HostKind, { projectId, importId }: { projectId: number; importId: number }) {
  expect(await scene.row(importId)).toMatchObject({ state: 'finished', sealed_credential: null });
  const { body } = await scene.as(scene.owner).get(`/api/v4/projects/${projectId}/import`).expect(200);
  expect(body).toMatchObject({ import_status: 'finished', failed_relations: [] });
  expect(countSentObjects(projectId)).toBe(WANTED[kind]);
  const refs = await scene.refs(scene.inside.repositoryOf(projectId));
  expect(refs.map((line) => line.split(' ')[0])).toEqual(['refs/heads/main']);
}

const COMMON = ['push', 'wrote merge_request', 'wrote review', 'wrote diff_note', 'wrote note'];
const BOUNDARIES: readonly (readonly [HostKind, string, number])[] = [
  ...[...COMMON, 'read pull-requests', 'read activities'].map((point) => ['server', point] as const),
  ...[...COMMON, 'wrote issue', 'read issues', 'read pullrequests', 'read one', 'read activity', 'read comments'].map(
    (point) => ['service', point] as const,
  ),
].flatMap(([kind, point]) => [1, ...(point === 'push' ? [] : [2])].map((time) => [kind, point, time] as const));

it.each(BOUNDARIES)('continues with the same result when it is killed: %s, %s, time %i', async (kind, point, time) => {
  const begun = await startImport(kind, `${kind}-${point.replaceAll(/\W/g, '-')}-${time}`);
  const death = new AbortController();
  let reached = 0;
  watchRequests(
    (at) => {
      if (at === point && ++reached === time) death.abort(new Error('killed'));
    },
    () => death.signal.throwIfAborted(),
  );
  await expect(scene.run(begun.importId, 1, death.signal)).rejects.toThrow('killed');
  expect(await scene.row(begun.importId)).toMatchObject({ state: 'started' });
  stopWatching();
  await scene.run(begun.importId, 2);
  await expectCompleteImport(kind, begun);
});

const DEATHS = 25;
/** Returns the number of events until a death. It is the same in each run of this file. */
const eventsUntilDeath = (deaths: number): number => ((deaths * 7919 + 13) % 11) + 1;

it.each(['server', 'service'] as const)('survives 25 deaths at any point: %s', async (kind) => {
  let deaths = 0;
  for (let round = 0; deaths < DEATHS; round++) {
    const begun = await startImport(kind, `${kind}-often-${round}`);
    for (let end = ''; end !== 'ended' && deaths < DEATHS;) {
      const death = new AbortController();
      const wanted = eventsUntilDeath(deaths);
      let reached = 0;
      watchRequests(
        () => {
          if (++reached === wanted) death.abort(new Error('killed'));
        },
        () => death.signal.throwIfAborted(),
      );
      end = await scene.run(begun.importId, 1, death.signal).then(
        () => 'ended',
        (error: Error) => error.message,
      );
      expect(['ended', 'killed']).toContain(end);
      if (end === 'killed') deaths++;
    }
    stopWatching();
    await scene.run(begun.importId, 2);
    await expectCompleteImport(kind, begun);
  }
  expect(deaths).toBe(DEATHS);
});
