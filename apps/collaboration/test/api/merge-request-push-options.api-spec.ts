import type { SeededService, SeededUser } from '@rookery/testing';
import { MergeRequestPushOptionsService } from '../../src/work/merge-requests/push-options/merge-request-push-options.service';
import { PushOptionsJob } from '../../src/work/merge-requests/push-options/push-options.job';
import { MergeCommandsJob } from '../../src/work/merge-requests/quick-actions/merge-commands.job';
import { startCollaboration } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';
import type { MergePlace } from '../support/merge-request-scene';

let service: SeededService;
let scene: MergeRequestScene;
let place: MergePlace;
let branches = 0;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  place = await scene.place();
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const as = (user: SeededUser) => service.app.as(service.seed.viewer(user));
interface ShownMergeRequest {
  readonly iid: number;
  readonly [field: string]: unknown;
}

/** Commits on a branch, a new one unless it is named. */
async function commit(titles: readonly string[] = ['A change'], at = place, branch = `topic-${++branches}`) {
  const known = (await scene.git.run(at.folder, 'rev-parse', '--verify', `refs/heads/${branch}`)).code === 0;
  if (known) await scene.git.ok(at.folder, 'checkout', '--quiet', branch);
  else await scene.git.ok(at.folder, 'checkout', '--quiet', '-B', branch, 'origin/main');
  for (const [index, title] of titles.entries())
    await scene.git.commit(at.folder, title, `${branch.replaceAll('/', '-')}-${index}`);
  return branch;
}

/** Pushes refs with options about merge requests. Returns the output of git without the prefix of its lines. */
async function push(options: readonly string[], refs: readonly string[], at = place, by?: SeededUser): Promise<string> {
  const to = by ? scene.urlFor(at.fullPath, by) : 'origin';
  const sent = options.flatMap((option) => ['-o', `merge_request.${option}`]);
  const output = await scene.git.ok(at.folder, 'push', ...sent, to, ...refs);
  return output.replaceAll(/^remote: ?/gm, '').replaceAll(/ +$/gm, '');
}

async function ofBranch(branch: string, at = place): Promise<ShownMergeRequest[]> {
  const { body } = await as(at.cast.owner).get(at.path).query({ source_branch: branch }).expect(200);
  return body as ShownMergeRequest[];
}

const expectedWarning = (options: readonly string[], text: string): string =>
  [
    '='.repeat(72),
    '',
    'WARNINGS:',
    `Error encountered with push options ${options.map((option) => `'merge_request.${option}'`).join(' ')}: ${text}`,
    '',
    '='.repeat(72),
  ].join('\n');

describe('a new merge request', () => {
  it('is assigned to the pusher and has the title of the only commit', async () => {
    const branch = await commit(['Add a page']);
    const output = await push(['create'], [branch], place, place.cast.developer);
    const [made, ...others] = await ofBranch(branch);
    expect(others).toEqual([]);
    expect(made).toMatchObject({
      ...{ title: 'Add a page', description: null, state: 'opened', draft: false, target_branch: 'main' },
      ...{ author: { id: place.cast.developer.id }, assignees: [{ id: place.cast.developer.id }] },
      ...{ reviewers: [], labels: [], milestone: null, squash: false, sha: expect.stringMatching(/^[0-9a-f]{40}$/) },
    });
    expect(output).toContain(`\nView merge request for ${branch}:\n  `);
    expect(output).toContain(`/${place.fullPath}/-/merge_requests/${made!.iid}\n`);
    expect(output).not.toContain('WARNINGS');
  });

  it('has the name of the branch as the title of several commits', async () => {
    const branch = await commit(['One', 'Two'], place, 'add-a_page');
    await push(['create'], [branch]);
    expect((await ofBranch(branch))[0]).toMatchObject({ title: 'Add a page' });
  });

  it('has the fields of all options', async () => {
    const { cast, project } = place;
    const { body: milestone } = await as(cast.owner)
      .post(`/api/v4/projects/${project.id}/milestones`)
      .send({ title: 'v1' })
      .expect(201);
    await scene.branch(place, 'stable');
    const branch = await commit();
    const options = [
      ...['create', 'title=Titled', String.raw`description=One\nTwo`, 'draft', 'target=stable', 'milestone=v1'],
      ...['label=a', 'label=b c', `assign=${cast.owner.id}`, `assign=@${cast.maintainer.username}`, 'squash'],
      ...['remove_source_branch', 'milestone=v1'],
    ];
    await push(options, [branch], place, cast.developer);
    const [made] = await ofBranch(branch);
    expect(made).toMatchObject({
      ...{ title: 'Draft: Titled', description: 'One\nTwo', draft: true, target_branch: 'stable', squash: true },
      ...{ labels: ['a', 'b c'], milestone: { id: milestone.id }, force_remove_source_branch: true },
    });
    expect((made!['assignees'] as { id: number }[]).map(({ id }) => id).sort()).toEqual(
      [cast.developer.id, cast.owner.id, cast.maintainer.id].sort(),
    );
  });

  it('runs the quick actions of its description', async () => {
    const branch = await commit();
    await push(['create', String.raw`description=Text\n/title By command`], [branch]);
    expect((await ofBranch(branch))[0]).toMatchObject({ title: 'By command', description: 'Text' });
  });

  it('is made for each branch but the default one and deleted ones', async () => {
    const [first, second, gone] = [await commit(), await commit(), await commit()];
    await push([], [gone]);
    await scene.git.ok(place.folder, 'checkout', '--quiet', '-B', 'main', 'origin/main');
    await scene.git.commit(place.folder, 'On main', 'on-main');
    await push(['create'], [first, second, `:${gone}`, 'main']);
    for (const branch of [first, second]) expect(await ofBranch(branch)).toHaveLength(1);
    for (const branch of [gone, 'main']) expect(await ofBranch(branch)).toEqual([]);
  });

  it('goes from a fork to its origin, or to the project that an option names', async () => {
    const fork = await scene.fork(place);
    const [first, second] = [await commit(['From a fork'], fork), await commit(['Inside'], fork)];
    await push(['create'], [first], fork, fork.cast.developer);
    await push(['create', `target_project=${fork.fullPath}`], [second], fork, fork.cast.developer);
    expect((await ofBranch(first))[0]).toMatchObject({ title: 'From a fork', source_project_id: fork.project.id });
    expect((await ofBranch(second, fork))[0]).toMatchObject({ title: 'Inside', target_project_id: fork.project.id });
    const again = await push(['title=Renamed'], [`${await commit(['More'], fork, first)}`], fork, fork.cast.developer);
    expect(again).toContain(`/${place.fullPath}/-/merge_requests/`);
    expect((await ofBranch(first))[0]).toMatchObject({ title: 'Renamed' });
  });

  it('merges when its pipeline succeeds, by the checks of the API', async () => {
    const branch = await commit();
    await push(['create', 'merge_when_pipeline_succeeds'], [branch], place, place.cast.developer);
    const [job, ...others] = await service.database.query<{ params: { iid: number; user_id: number } }>(
      `select j.payload as params from graphile_worker._private_jobs j join graphile_worker._private_tasks t
         on t.id = j.task_id where t.identifier = 'run-merge-command'`,
    );
    expect(others).toEqual([]);
    const [made] = await ofBranch(branch);
    expect(job!.params).toMatchObject({ command: 'merge', iid: made!.iid, user_id: place.cast.developer.id });
    await service.app.get(MergeCommandsJob).run({ params: job!.params as never });
    expect((await ofBranch(branch))[0]).toMatchObject({ state: 'merged' });
  });
});

describe('an open merge request', () => {
  it('changes without the option to create one', async () => {
    const { cast } = place;
    const branch = await commit();
    await push(['create', 'label=a', 'label=b', `assign=${cast.maintainer.id}`], [branch], place, cast.developer);
    await commit(['More'], place, branch);
    const options = ['title=New', 'description=Text', 'draft', 'label=c', 'unlabel=a', 'squash'];
    const people = [`unassign=${cast.developer.username}`, `assign=${cast.owner.username}`];
    const output = await push([...options, ...people, 'target=stable'], [branch]);
    expect(output).not.toContain('WARNINGS');
    const [changed, ...others] = await ofBranch(branch);
    expect(others).toEqual([]);
    expect(changed).toMatchObject({
      ...{ title: 'Draft: New', description: 'Text', labels: ['b', 'c'], squash: true, target_branch: 'stable' },
    });
    expect((changed!['assignees'] as { id: number }[]).map(({ id }) => id).sort()).toEqual(
      [cast.maintainer.id, cast.owner.id].sort(),
    );
  });

  it('stays the only one of its branch', async () => {
    const branch = await commit();
    await push(['create', 'title=First'], [branch]);
    await commit(['More'], place, branch);
    await push(['create'], [branch]);
    expect(await ofBranch(branch)).toMatchObject([{ title: 'First' }]);
  });
});

describe('refused options', () => {
  it.each<[string, readonly string[], (branch: string) => string]>([
    [
      'an update of a missing one',
      ['title=New'],
      (branch) => `A merge_request.create push option is required to create a merge request for branch ${branch}`,
    ],
    [
      'a target that does not exist',
      ['create', 'target=absent'],
      () => `Target branch ${place.fullPath}:absent does not exist`,
    ],
    [
      'a target that no branch can be',
      ['create', 'target=a..b'],
      () => `Target branch ${place.fullPath}:a..b does not exist`,
    ],
    [
      'an unknown project',
      ['create', 'target_project=nowhere/at-all'],
      () => `Projects ${place.fullPath} and nowhere/at-all are not in the same network`,
    ],
    ['a long title', ['create', `title=${'a'.repeat(256)}`], () => 'Title is too long (maximum is 255 characters)'],
  ])('do not fail the push: %s', async (_, options, text) => {
    const branch = await commit();
    const output = await push(options, [branch]);
    expect(output).toContain(expectedWarning(options, text(branch)));
    expect(await ofBranch(branch)).toEqual([]);
    expect(await scene.ref(place, `refs/heads/${branch}`)).toMatch(/^[0-9a-f]{40}$/);
  });

  it('do not fail a push of too many branches', async () => {
    const branch = await commit();
    const names = Array.from({ length: 11 }, (_, index) => `many-${index}`);
    const output = await push(
      ['create'],
      names.map((name) => `${branch}:${name}`),
    );
    expect(output).toContain(expectedWarning(['create'], 'Too many branches pushed (11 were pushed, limit is 10)'));
    for (const name of names) expect(await ofBranch(name)).toEqual([]);
  });

  it('do not fail the push if merge requests are disabled, and hide projects of others', async () => {
    const closed = await scene.place({ merge_requests_access_level: 'disabled' });
    const branch = await commit(undefined, closed);
    expect(await push(['create'], [branch], closed)).toContain(
      expectedWarning(['create'], `Merge requests are not enabled for project ${closed.fullPath}`),
    );
    const hidden = await scene.fork(place, { visibility: 'private' });
    for (const path of [hidden.fullPath, String(hidden.project.id)]) {
      const options = ['create', `target_project=${path}`];
      const output = await push(options, [await commit()], place, place.cast.developer);
      expect(output).toContain(
        expectedWarning(options, `Projects ${place.fullPath} and ${path} are not in the same network`),
      );
    }
  });

  it('do not fail the push if the pusher may not create merge requests in the target', async () => {
    const archived = await scene.fork(place);
    await service.database.query('update directory_projects set archived = true where id = $1', [archived.project.id]);
    const options = ['create', `target_project=${archived.fullPath}`];
    const output = await push(options, [await commit()], place, place.cast.developer);
    expect(output).toContain(expectedWarning(options, 'User access was denied'));
  });

  it('show no control characters', async () => {
    const branch = await commit();
    const output = await push(['create', 'target=a\u001B[31mb'], [branch]);
    expect(output).toContain("'merge_request.target=a [31mb'");
  });
});

describe('after a crash', () => {
  it('a job applies the options, once', async () => {
    const apply = jest
      .spyOn(MergeRequestPushOptionsService.prototype, 'applyOptions')
      .mockRejectedValueOnce(new Error('The process died.'));
    const branch = await commit();
    await push(['create', 'title=Late'], [branch], place, place.cast.developer);
    apply.mockRestore();
    expect(await ofBranch(branch)).toEqual([]);
    const [job] = await service.database.query<{ params: { push_id: number }; waits: boolean }>(
      `select j.payload as params, j.run_at > now() as waits from graphile_worker._private_jobs j
         join graphile_worker._private_tasks t on t.id = j.task_id
       where t.identifier = 'apply-push-options' order by j.id desc limit 1`,
    );
    expect(job!.waits).toBe(true);
    const run = () => service.app.get(PushOptionsJob).run({ params: job!.params });
    await Promise.all([run(), run()]);
    const [made, ...others] = await ofBranch(branch);
    expect([made!['title'], others]).toEqual(['Late', []]);
    await as(place.cast.owner).put(`${place.path}/${made!.iid}`).send({ state_event: 'close' }).expect(200);
    await run();
    expect(await ofBranch(branch)).toHaveLength(1);
    const [kept] = await service.database.query('select options from pushes where id = $1', [job!.params.push_id]);
    expect(kept).toEqual({ options: [] });
  });

  it('a branch that is done stays as it is, when options are applied again', async () => {
    const forget = jest.spyOn(MergeRequestPushOptionsService.prototype, 'applyOptions');
    const branch = await commit();
    await push(['create', 'title=Once'], [branch]);
    const id = forget.mock.calls[0]![0];
    forget.mockRestore();
    // As after a crash between the merge request and the end of the push.
    await service.database.query(`update pushes set options = '{merge_request.title=Twice}' where id = $1`, [id]);
    await service.app.get(MergeRequestPushOptionsService).applyOptions(id);
    expect(await ofBranch(branch)).toMatchObject([{ title: 'Once' }]);
  });
});

describe('links', () => {
  it('offer to create a merge request for a branch without one', async () => {
    const branch = await commit(undefined, place, 'a/b&c');
    const output = await push([], [branch]);
    expect(output).toContain(
      `\nTo create a merge request for ${branch}, visit:\n  http://localhost:8080/${place.fullPath}/-/merge_requests/new?merge_request%5Bsource_branch%5D=a%2Fb%26c\n`,
    );
  });

  it('are left out for the default branch, for deletions and for many branches', async () => {
    const branch = await commit();
    await push([], [branch]);
    await scene.git.ok(place.folder, 'fetch', '--quiet', 'origin');
    await scene.git.ok(place.folder, 'checkout', '--quiet', '-B', 'main', 'origin/main');
    await scene.git.commit(place.folder, 'On main', 'on-main-too');
    const many = ['l1', 'l2', 'l3', 'l4'].map((name) => `${branch}:${name}`);
    for (const refs of [['main'], [`:${branch}`], many]) expect(await push([], refs)).not.toContain('merge request');
  });

  it('are left out if the project says so', async () => {
    const silent = await scene.place({ merge_settings: { printing_merge_request_link_enabled: false } });
    expect(await push([], [await commit(undefined, silent)], silent)).not.toContain('merge request');
  });
});
