import { IMPORTED_KINDS } from '@rookery/contracts';
import { GitClient, RemoteHost } from '@rookery/testing';
import { call, estate, eventually, person } from '../support/estate';
import type { Person } from '../support/estate';

let host: RemoteHost;
let git: GitClient;
let wren: Person;
beforeAll(async () => {
  host = await RemoteHost.start(estate.upstreamPort);
  git = await GitClient.make();
  wren = await person('import-wren');
});
afterAll(async () => {
  await host.stop();
  await git.close();
});

const isEnded = ({ import_status: status }: { readonly id: number; readonly import_status: string }): boolean =>
  !['scheduled', 'started'].includes(status);

test('a repository of another host is imported, shown in the feed, and cloned', async () => {
  const repository = await host.add('heron');
  await host.git.ok('heron', 'checkout', '--quiet', '-b', 'trunk');
  const commit = await host.git.commit('heron', 'Second');
  await host.git.ok('heron', 'tag', 'v1');
  await host.git.ok('heron', 'push', '--quiet', 'origin', 'trunk', 'v1');
  const started = await call('POST', '/import/github', {
    token: wren.token,
    json: {
      personal_access_token: host.token,
      repo_id: repository.id,
      target_namespace: wren.username,
      github_hostname: host.url,
      new_name: 'Grey Heron',
      optional_stages: { attachments_import: 'true' },
    },
  });
  expect([started.status, started.body.import_status]).toEqual([201, 'scheduled']);
  const path = `/projects/${encodeURIComponent(`${wren.username}/grey-heron`)}`;
  const show = async (rest = '') => (await call('GET', `${path}${rest}`, { token: wren.token })).body;
  const project = await eventually(show, isEnded);
  expect(project).toMatchObject({
    id: started.body.id,
    import_status: 'finished',
    import_type: 'remote',
    import_error: null,
    default_branch: 'main',
    visibility: 'private',
  });
  expect(await show('/import')).toMatchObject({ import_status: 'finished', failed_relations: [] });
  expect((await show('/repository/branches')).map(({ name }: { name: string }) => name)).toEqual(['main', 'trunk']);
  expect(await show('/repository/tags/v1')).toMatchObject({ commit: { id: commit } });
  const events = await eventually(
    () => show('/events'),
    (list: { readonly action_name: string }[]) => list.length > 0,
  );
  expect(events.map((event) => event.action_name)).toEqual(['imported']);

  const url = `${estate.baseUrl.replace('://', `://oauth2:${wren.token}@`)}/${wren.username}/grey-heron.git`;
  await git.ok('.', 'clone', '--quiet', '--branch', 'trunk', url, 'clone');
  expect((await git.ok('clone', 'rev-parse', 'HEAD')).trim()).toBe(commit);

  const again = await call('POST', '/import/remote/cancel', { token: wren.token, json: { project_id: project.id } });
  expect([again.status, again.body]).toEqual([
    400,
    { message: 'The import cannot be canceled because it is finished' },
  ]);
});

test('issues of another host come with their placeholder authors, and notify no one', async () => {
  const repository = await host.add('osprey');
  const [created_at, updated_at] = ['2024-01-02T03:04:05.000Z', '2024-02-03T04:05:06.000Z'];
  const times = { created_at, updated_at };
  const picture = Buffer.from('GIF89a pixels');
  host.files.set('/user-attachments/assets/7', { type: 'image/gif', content: picture });
  const image = `${host.url}/user-attachments/assets/7`;
  const robin = { id: 11, login: wren.username };
  host.put(repository, 'labels', [{ name: 'nest', color: '00ff00', description: null }]);
  host.put(repository, 'milestones', [{ number: 2, title: 'Spring', state: 'open', ...times }]);
  host.put(repository, 'issues', [
    {
      ...{ number: 5, title: 'Build a nest', body: `Ask @${wren.username} ![nest](${image})`, state: 'open', ...times },
      ...{ user: robin, assignees: [robin], labels: [{ name: 'nest' }], milestone: { number: 2 } },
    },
  ]);
  host.put(repository, 'issues/comments', [
    {
      ...{ id: 77, body: 'Done', user: { id: 12, login: 'merlin' }, ...times },
      html_url: `${host.url}/wren/osprey/issues/5#issuecomment-77`,
    },
  ]);
  const path = `import-${Date.now()}`;
  const group = await call('POST', '/groups', { token: wren.token, json: { name: path, path } });
  const started = await call('POST', '/import/github', {
    token: wren.token,
    json: {
      ...{ personal_access_token: host.token, repo_id: repository.id, target_namespace: path },
      ...{ github_hostname: host.url, optional_stages: { attachments_import: true } },
    },
  });
  const show = async (rest = '') =>
    (await call('GET', `/projects/${started.body.id}${rest}`, { token: wren.token })).body;
  await eventually(show, isEnded);
  const nothing = Object.fromEntries(IMPORTED_KINDS.map((kind) => [kind, 0]));
  const counts = { ...nothing, label: 1, milestone: 1, issue: 1, note: 1, attachment: 1 };
  expect([group.status, await show('/import')]).toEqual([
    201,
    expect.objectContaining({ import_status: 'finished', stats: { fetched: counts, imported: counts } }),
  ]);
  const issue = await show('/issues/5');
  const [, upload] = /!\[nest\]\((\/uploads\/[0-9a-f]{32}\/7\.gif)\)$/.exec(issue.description) ?? [];
  expect(issue).toMatchObject({
    ...{ ...times, imported: true, imported_from: 'remote' },
    description: `Ask \`@${wren.username}\` ![nest](${upload})`,
    ...{ labels: ['nest'], milestone: { title: 'Spring' }, user_notes_count: 1 },
    author: { username: `${wren.username}_placeholder_user_1`, name: `Placeholder ${wren.username}` },
    assignees: [{ username: `${wren.username}_placeholder_user_1` }],
  });
  const file = await fetch(`${estate.baseUrl}/-/project/${started.body.id}${upload}`, {
    headers: { 'private-token': wren.token },
  });
  expect([file.status, Buffer.from(await file.arrayBuffer())]).toEqual([200, picture]);
  expect(await show('/issues/5/notes')).toMatchObject([{ body: 'Done', author: { name: 'Placeholder merlin' } }]);
  await eventually(show, (one: { open_issues_count: number }) => one.open_issues_count === 1);
  expect((await call('GET', '/todos', { token: wren.token })).body).toEqual([]);
  expect((await show('/events')).map((event: { action_name: string }) => event.action_name)).toEqual(['imported']);
});

test('merge requests of another host come with their commits, reviews and comments on lines', async () => {
  const repository = await host.add('gannet');
  const upstream = (...args: string[]) => host.git.ok('gannet', ...args);
  const base = (await upstream('rev-parse', 'HEAD')).trim();
  await upstream('checkout', '--quiet', '-b', 'feature');
  const head = await host.git.commit('gannet', 'Changed');
  await upstream('tag', 'v1', base);
  await upstream('push', '--quiet', 'origin', 'v1', 'feature:refs/pull/3/head');
  const times = { created_at: '2024-01-02T03:04:05.000Z', updated_at: '2024-02-03T04:05:06.000Z' };
  const [robin, merlin] = [
    { id: 11, login: 'robin' },
    { id: 12, login: 'merlin' },
  ];
  const on = { pull_request_url: `${host.url}/api/v3/repos/wren/gannet/pulls/3` };
  host.put(repository, 'pulls', [
    {
      ...{ number: 3, title: 'Change', body: 'Text', state: 'open', user: robin, ...times },
      head: { ref: 'feature', sha: head, user: robin, repo: { id: 9 } },
      base: { ref: 'main', sha: base, user: robin, repo: { id: repository.id } },
    },
  ]);
  host.put(repository, 'pulls/3/reviews', [
    { ...{ id: 31, user: merlin, state: 'APPROVED', body: 'Good' }, ...on, submitted_at: times.updated_at },
  ]);
  host.put(repository, 'pulls/comments', [
    {
      ...{ id: 32, user: merlin, body: 'This line', path: 'README.md', side: 'RIGHT', line: 1, commit_id: head },
      ...{ ...on, ...times },
    },
  ]);
  host.put(repository, 'releases', [
    { id: 33, tag_name: 'v1', name: 'First', body: null, author: robin, published_at: times.updated_at, ...times },
  ]);
  host.put(repository, 'branches', [{ name: 'main', protection: { required_pull_request_reviews: {} } }]);
  const started = await call('POST', '/import/github', {
    token: wren.token,
    json: {
      ...{ personal_access_token: host.token, repo_id: repository.id, target_namespace: wren.username },
      ...{ github_hostname: host.url, optional_stages: { attachments_import: true } },
    },
  });
  const show = async (rest = '') =>
    (await call('GET', `/projects/${started.body.id}${rest}`, { token: wren.token })).body;
  await eventually(show, isEnded);
  expect(await show('/import')).toMatchObject({ import_status: 'finished', failed_relations: [] });
  const source_branch = `GH-${head.slice(0, 8)}-robin/3/fork/feature`;
  expect(await show('/merge_requests/3')).toMatchObject({
    ...{ ...times, state: 'opened', sha: head, imported_from: 'remote', source_branch, user_notes_count: 2 },
    description: '*Created by: robin*\n\nText',
  });
  expect((await show('/merge_requests/3/commits')).map(({ id }: { id: string }) => id)).toEqual([head]);
  const threads = await show('/merge_requests/3/discussions');
  expect(threads.map(({ notes: [note] }: { notes: { body: string; position?: object }[] }) => note)).toMatchObject([
    { body: '*Created by: merlin*\n\nThis line', position: { head_sha: head, new_line: 1, new_path: 'README.md' } },
    { body: '**Review:** Approved\n\n*Created by: merlin*\n\nGood' },
  ]);
  expect(await show('/releases/v1')).toMatchObject({ name: 'First', released_at: times.updated_at });
  expect(await show('/protected_branches/main')).toMatchObject({ push_access_levels: [{ access_level: 0 }] });
  expect((await show('/events')).map((event: { action_name: string }) => event.action_name)).toEqual(['imported']);
});

test('a repository is imported by its URL', async () => {
  const { clone_url } = await host.add('dunlin');
  const name = `dunlin-${Date.now()}`;
  const import_url = clone_url.replace('://', `://${host.token}:x-oauth-basic@`);
  const { status, body } = await call('POST', '/projects', { token: wren.token, json: { name, import_url } });
  expect([status, body.import_url, body.import_type]).toEqual([201, clone_url, 'git']);
  const show = async (rest = '') => (await call('GET', `/projects/${body.id}${rest}`, { token: wren.token })).body;
  expect(await eventually(show, isEnded)).toMatchObject({ import_status: 'finished', import_error: null });
  expect((await show('/repository/branches')).map((branch: { name: string }) => branch.name)).toEqual(['main']);
  const refused = await call('POST', '/projects', {
    token: wren.token,
    json: { name: `${name}-2`, import_url: 'http://169.254.169.254/x.git' },
  });
  expect(refused).toMatchObject({
    status: 400,
    body: { message: { import_url: [expect.stringMatching('^is blocked')] } },
  });
});

test('gists of another host become personal snippets', async () => {
  const times = { created_at: '2024-01-02T03:04:05.000Z', updated_at: '2024-02-03T04:05:06.000Z' };
  host.gists = [
    { id: 'a1', public: true, description: 'Notes', files: { 'a.md': 'x'.repeat(200), 'b.md': 'B' }, ...times },
    { id: 'a2', public: false, description: null, files: { 'only.txt': 'Only' }, ...times },
  ];
  const robin = await person('import-robin');
  const json = { personal_access_token: host.token, github_hostname: host.url };
  const started = await call('POST', '/import/github/gists', { token: robin.token, json });
  expect(started.status).toBe(202);
  const show = async (rest = '') => (await call('GET', `/snippets${rest}`, { token: robin.token })).body;
  const found = await eventually(show, (list: readonly { readonly title: string }[]) => list.length === 2);
  expect(found.toSorted((a, b) => a.title.localeCompare(b.title))).toMatchObject([
    { title: 'Notes', visibility: 'public', files: [{ path: 'a.md' }, { path: 'b.md' }], ...times },
    { title: 'only.txt', visibility: 'private', files: [{ path: 'only.txt' }], ...times },
  ]);
});
