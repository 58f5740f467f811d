import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requireDebianPackages } from './debian-packages';
import { addMember, call, estate, eventually, person, projectOf } from './estate';
import type { Person } from './estate';

/** Longest run of a compiler or of one part of a program. Units: ms. */
const TIMEOUT_MS = 120_000;
const FOLDER = join(__dirname, '../clients/sdks');

/**
 * A program that uses a public API client of another language. `run` are the words that start it in the folder of these
 * programs. `build` are those of its compiler. `environment` is added to both.
 */
interface SdkProgram {
  readonly packages: readonly string[];
  readonly run: readonly [string, ...string[]];
  readonly build?: readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Results that every client has to see, from its own writes and from those of `prepare`. */
const REPOSITORY = {
  branch: ['feature/x', 'Second', false],
  branches: ['feature/x', 'main'],
  merged: true,
  file: ['README.md', 'big\n'],
  raw: 'one\ntwo\nthree\nfour\n',
  blame: [
    ['First', ['one']],
    ['Change', ['2']],
    ['First', ['three']],
    ['Second', ['four']],
  ],
  commits: ['Change', 'Second', 'First'],
  commit: ['Change', 2, 1],
  diff: ['README.md', 'src/größe "1".txt'],
  refs: [['branch', 'feature/x']],
  comments: [['A note', 'README.md', 2]],
  compare: [['Change'], ['README.md', 'src/größe "1".txt']],
  tree: ['src', 'README.md', 'src/größe "1".txt'],
  contributors: [2],
  tags: [['v1.0', 'The first', 'Second']],
  archive: '1f8b',
  missing: [404, '404 File Not Found'],
  unknown: [404, '404 Commit Not Found'],
  again: [400, 'A file with this name already exists'],
  deleted: ['Remove', 0, 404],
};
const mergeRequestsReviewedBy = ({ username }: Person) => ({
  created: ['Draft: Code', true, ['new', 'small'], [username]],
  shown: ['Code', false, [], 'opened', '1'],
  listed: [true],
  commits: ['Apply 1 suggestion(s) to 1 file(s)', 'Add code'],
  changes: ['code.txt'],
  versions: 2,
  participants: 2,
  notes: ['Edited', 'Better:\n```suggestion:-0+0\nB\n```', 'A reply', 'Looks good', 'A question'],
  position: ['code.txt', 2, null],
  suggestion: ['b\n', 'B\n', true],
  resolved: [true, true],
  drafts: ['Looks good'],
  approvals: [true, [username], 0],
  rules: [['All', 'any_approver', true]],
  duplicate: 409,
  merged: ['merged', 'a\nB\nc\n'],
});
const ACTIVITY = {
  levels: ['participating', 'watch', 'mention'],
  custom: [true, false],
  todos: [
    ['assigned', 'Read me'],
    ['directly_addressed', 'Named'],
  ],
  opened: ['Named', 'Read me', 'Talk'],
  pushed: [['main', 'First']],
  commented: ['A word'],
  done: ['done', 1, 0],
};

/** Declares the tests of a program: branches, files, commits and tags; merge requests and their review; activity. */
export function itWorksWithSdk({ packages, run, build, environment }: SdkProgram): void {
  let reviewer: Person;
  let variables: Record<string, string>;
  const start = async ([file, ...words]: readonly [string, ...string[]], ...more: readonly string[]) => {
    const env = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', ...environment, ...variables };
    const options = { cwd: FOLDER, env, timeout: TIMEOUT_MS };
    return (await promisify(execFile)(file, [...words, ...more], options)).stdout;
  };
  const part = async (name: string): Promise<unknown> => JSON.parse(await start(run, name));

  beforeAll(async () => {
    requireDebianPackages(...packages);
    const owner = await person('sdk-owner');
    reviewer = await person('sdk-reviewer');
    const project = await projectOf(owner, 'sdk');
    expect((await addMember(project.id, reviewer, 30, owner)).status).toBe(201);
    variables = {
      BASE_URL: estate.baseUrl,
      OWNER_TOKEN: owner.token,
      REVIEWER_TOKEN: reviewer.token,
      PROJECT_ID: String(project.id),
      GROUP_ID: String(project.group),
    };
    await prepare(project.id, owner, reviewer);
    if (build) await start(build);
  });

  // First, because the other tests cause events, too.
  it('reads and changes notification settings, to-dos and events', async () => {
    expect(await part('activity')).toEqual(ACTIVITY);
  });

  it('writes and reads branches, files, commits, comparisons, tags and archives', async () => {
    expect(await part('repository')).toEqual(REPOSITORY);
  });

  it('opens, discusses, approves, changes by a suggestion and merges a merge request', async () => {
    expect(await part('merge-requests')).toEqual(mergeRequestsReviewedBy(reviewer));
  });
}

/** Writes rows for `ACTIVITY` and the first commit. Returns when their to-dos and events exist. */
async function prepare(project: number, owner: Person, reviewer: Person): Promise<void> {
  const post = async (by: Person, path: string, json: object) => {
    const answer = await call('POST', `/projects/${project}/${path}`, { token: by.token, json });
    expect(answer).toMatchObject({ status: 201 });
    return answer.body;
  };
  const first = { branch: 'main', content: 'one\ntwo\nthree\n', commit_message: 'First' };
  await post(owner, 'repository/files/README.md', first);
  const { iid } = await post(owner, 'issues', { title: 'Talk' });
  await post(reviewer, `issues/${iid}/notes`, { body: 'A word' });
  await post(owner, 'issues', { title: 'Read me', assignee_ids: [reviewer.id] });
  await post(owner, 'issues', { title: 'Named', description: `@${reviewer.username}` });
  const count = async (path: string) => (await call('GET', path, { token: reviewer.token })).body.length;
  const events = `/projects/${project}/events?action=`;
  await eventually(
    () =>
      Promise.all(
        ['/todos', ...['pushed', 'commented', 'created&target_type=issue'].map((one) => events + one)].map(count),
      ),
    ([todos, pushes, comments, issues]) => todos === 2 && pushes === 1 && comments === 1 && issues === 3,
  );
}
