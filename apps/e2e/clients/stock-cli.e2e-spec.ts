import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { requireDebianPackages } from '../support/debian-packages';
import { call, estate, eventually, mark, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';

/** Unmodified command lines of Debian that call the API, with their JSON output. */
describe('stock command lines', () => {
  let owner: Person;
  let project: string;

  /** Runs a command line. Returns its output, which is empty or JSON. */
  const run = async (environment: Record<string, string>, file: string, ...words: readonly string[]) => {
    const env = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', HOME: '/nonexistent', ...environment };
    const { stdout } = await promisify(execFile)(file, words, { env, timeout: 60_000 });
    return stdout.trim() === '' ? null : JSON.parse(stdout);
  };
  const commit = async (branch: string, more: object) => {
    const actions = [{ action: 'create', file_path: `${branch}.txt`, content: 'one\n' }];
    const json = { branch, commit_message: `Add ${branch}`, actions, ...more };
    const answer = await call('POST', `/projects/${project}/repository/commits`, { token: owner.token, json });
    expect(answer.status).toBe(201);
  };

  beforeAll(async () => {
    requireDebianPackages('python3-gitlab', 'ruby-gitlab', 'libgitlab-api-v4-perl');
    owner = await person('cli');
    project = String((await projectOf(owner, 'cli')).id);
    await commit('main', {});
  });

  it('of python-gitlab creates a branch, a file and a merge request', async () => {
    const environment = { GITLAB_URL: estate.baseUrl, GITLAB_PRIVATE_TOKEN: owner.token };
    const python = (kind: string, verb: string, ...words: readonly string[]) =>
      run(environment, '/usr/bin/python3', '-m', 'gitlab', '-o', 'json', kind, verb, '--project-id', project, ...words);
    expect(await python('project-branch', 'create', '--branch', 'python', '--ref', 'main')).toMatchObject({
      name: 'python',
    });
    const file = ['--file-path', 'eggs/a.txt', '--branch', 'python', '--content', 'one', '--commit-message', 'Lay'];
    expect(await python('project-file', 'create', ...file)).toEqual({ file_path: 'eggs/a.txt', branch: 'python' });
    const commits = await python('project-commit', 'list', '--ref-name', 'python');
    expect(commits.map(({ title }: { title: string }) => title)).toEqual(['Lay', 'Add main']);
    const branches = ['--source-branch', 'python', '--target-branch', 'main'];
    const opened = await python('project-merge-request', 'create', ...branches, '--title', 'By Python');
    expect(opened).toMatchObject({ title: 'By Python', source_branch: 'python', state: 'opened' });
  });

  it('of the Ruby client compares branches and comments on a merge request', async () => {
    const environment = { GITLAB_API_ENDPOINT: `${estate.baseUrl}/api/v4`, GITLAB_API_PRIVATE_TOKEN: owner.token };
    const ruby = async (...words: readonly string[]) =>
      (await run(environment, '/usr/bin/ruby-gitlab', ...words, '--json')).result;
    await commit('ruby', { start_branch: 'main' });
    expect(await ruby('compare', project, 'main', 'ruby')).toMatchObject({
      commits: [{ title: 'Add ruby' }],
      diffs: [{ new_path: 'ruby.txt', diff: '@@ -0,0 +1 @@\n+one\n' }],
    });
    const options = '{source_branch: ruby, target_branch: main}';
    const { iid } = await ruby('create_merge_request', project, 'By Ruby', options);
    await ruby('create_merge_request_note', project, String(iid), 'A note');
    expect(await ruby('merge_request_notes', project, String(iid))).toMatchObject([{ body: 'A note' }]);
    expect(await ruby('accept_merge_request', project, String(iid))).toMatchObject({ state: 'merged' });
  });

  it('of the Perl client changes notification settings and lists to-dos and events', async () => {
    const account = [`--url=${estate.baseUrl}/api/v4`, `--private-token=${owner.token}`];
    const perl = (...words: readonly string[]) => run({}, '/usr/bin/gitlab-api-v4', ...account, ...words);
    expect(await perl('set-global-notification-settings', 'level:watch')).toMatchObject({ level: 'watch' });
    const { id, iid } = await perl('create-issue', project, `title:By Perl ${mark}`);
    expect(await perl('create-issue-todo', project, String(iid))).toMatchObject({
      action_name: 'marked',
      target: { id },
    });
    expect(await perl('todos', 'type:Issue')).toMatchObject([{ target: { id }, state: 'pending' }]);
    const [pushed] = await eventually(
      () => perl('project-events', project, 'action:pushed', 'sort:asc'),
      (events) => events.length > 0,
    );
    expect(pushed).toMatchObject({ push_data: { ref: 'main', commit_title: 'Add main' } });
  });
});
