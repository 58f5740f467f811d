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
