import { RepohostServer } from '@rookery/testing';
import { call, estate, eventually, person } from '../support/estate';
import type { Person } from '../support/estate';

let server: RepohostServer;
let wren: Person;
beforeAll(async () => {
  server = await RepohostServer.start(estate.upstreamPort);
  wren = await person('repohost-wren');
});
afterAll(() => server.host.stop());

const isEnded = ({ import_status: status }: { readonly import_status: string }): boolean =>
  !['scheduled', 'started'].includes(status);

test('a repository of a server is imported with its pull requests, approvals and threads', async () => {
  const repository = await server.add('heron');
  const upstream = (...args: string[]) => server.host.git.ok('heron', ...args);
  const base = (await upstream('rev-parse', 'HEAD')).trim();
  await upstream('checkout', '--quiet', '-b', 'feature');
  const head = await server.host.git.commit('heron', 'Changed');
  await upstream('push', '--quiet', 'origin', 'feature:refs/pull-requests/3/from', 'feature:refs/pull-requests/4/from');
  const [AT, LATER] = [Date.UTC(2024, 0, 2), Date.UTC(2024, 1, 3)];
  const [robin, merlin] = [
    { id: 11, name: 'robin', slug: 'robin' },
    { id: 12, name: 'merlin', slug: 'merlin' },
  ];
  const ref = (name: string, latestCommit: string) => ({
    id: `refs/heads/${name}`,
    latestCommit,
    repository: { id: 1 },
  });
  const pull = (id: number, state: string) => ({
    ...{ id, state, title: `Change ${id}`, description: `Ask @${wren.username}`, author: { user: robin } },
    ...{ fromRef: ref('feature', head), toRef: ref('main', base), reviewers: [{ user: merlin }] },
    ...{ createdDate: AT, updatedDate: LATER, ...(state === 'OPEN' ? {} : { closedDate: LATER }) },
  });
  const reply = { id: 33, text: 'Indeed', author: robin, createdDate: LATER };
  server.putPullRequests(repository, [pull(3, 'MERGED'), pull(4, 'DECLINED')]);
  server.putActivities(repository, 3, [
    { id: 24, action: 'MERGED', user: merlin, createdDate: LATER, commit: { id: head } },
    { id: 23, action: 'APPROVED', user: merlin, createdDate: LATER },
    {
      ...{ id: 22, action: 'COMMENTED', user: merlin, createdDate: AT },
      comment: { id: 32, text: 'This line', author: merlin, createdDate: AT, comments: [reply] },
      commentAnchor: { path: 'README.md', line: 1, lineType: 'ADDED', fileType: 'TO', toHash: head },
    },
  ]);
  const path = `servers-${Date.now()}`;
  await call('POST', '/groups', { token: wren.token, json: { name: path, path } });
  const { url, username, token } = server.host;
  const started = await call('POST', '/import/bitbucket_server', {
    token: wren.token,
    json: {
      ...{ bitbucket_server_url: url, bitbucket_server_username: username, personal_access_token: token },
      ...{ bitbucket_server_project: 'BIRD', bitbucket_server_repo: 'heron', target_namespace: path },
    },
  });
  expect([started.status, started.body.import_status]).toEqual([201, 'scheduled']);
  const show = async (rest = '') =>
    (await call('GET', `/projects/${started.body.id}${rest}`, { token: wren.token })).body;
  const project = await eventually(show, isEnded);
  expect(project).toMatchObject({ import_status: 'finished', import_type: 'repohost_server', default_branch: 'main' });
  expect(await show('/import')).toMatchObject({ import_status: 'finished', failed_relations: [] });
  expect(await show('/merge_requests/3')).toMatchObject({
    ...{ state: 'merged', sha: head, imported: true, imported_from: 'repohost_server', user_notes_count: 3 },
    ...{ description: `Ask \`@${wren.username}\``, merged_at: new Date(LATER).toISOString() },
    ...{ author: { name: 'Placeholder robin' }, merged_by: { name: 'Placeholder merlin' } },
  });
  expect(await show('/merge_requests/4')).toMatchObject({ state: 'closed', closed_at: new Date(LATER).toISOString() });
  const threads = await show('/merge_requests/3/discussions');
  expect(threads.map(({ notes }: { notes: { body: string; position?: object }[] }) => notes)).toMatchObject([
    [
      { body: 'This line', position: { head_sha: head, new_line: 1 }, author: { name: 'Placeholder merlin' } },
      { body: '> This line\n\nIndeed', author: { name: 'Placeholder robin' } },
    ],
    [{ body: '**Review:** Approved' }],
  ]);
  expect(await show('/merge_requests/3/approvals')).toMatchObject({
    approved_by: [{ user: { name: 'Placeholder merlin' } }],
  });
  expect((await show('/events')).map((event: { action_name: string }) => event.action_name)).toEqual(['imported']);
});
