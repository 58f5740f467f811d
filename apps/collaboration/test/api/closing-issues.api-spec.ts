import type { DirectoryMergeSettings, DirectoryProject } from '@rookery/contracts';
import { PushSettlement } from '../../src/code/repositories/ref-updates/settlement';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import type { SeededService } from '@rookery/testing';
import { eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';

interface ShownIssue {
  readonly id: number;
  readonly iid: number;
  readonly [field: string]: unknown;
}

let service: SeededService;
let scene: MergeRequestScene;
let on: MergeActions;
let project: DirectoryProject;
let cast: Cast;
let fullPath: string;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  on = await MergeActions.in(service, scene);
  ({ project, cast, fullPath } = on.place);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const issuesPath = (of: DirectoryProject): string => `/api/v4/projects/${of.id}/issues`;
const anIssue = async (
  fields: Record<string, unknown> = {},
  { of = project, by = 'owner' }: { of?: DirectoryProject; by?: keyof Cast } = {},
): Promise<ShownIssue> => {
  const sent = { title: 'Work', ...fields };
  return (await on.as(by).post(issuesPath(of)).send(sent).expect(201)).body as ShownIssue;
};
const shown = async ({ iid }: ShownIssue, of = project): Promise<ShownIssue> =>
  (
    await on
      .as('admin')
      .get(`${issuesPath(of)}/${iid}`)
      .expect(200)
  ).body as ShownIssue;
const notes = async ({ iid }: ShownIssue, of = project, who: keyof Cast = 'admin'): Promise<string[]> => {
  const query = { sort: 'asc', activity_filter: 'only_activity' };
  const { body } = await on
    .as(who)
    .get(`${issuesPath(of)}/${iid}/notes`)
    .query(query)
    .expect(200);
  return (body as { body: string }[]).map((note) => note.body).filter((text) => !text.startsWith('mentioned in'));
};
const storeMergeSettings = (merge_settings: DirectoryMergeSettings | null) =>
  service.seed.put('projects', { ...project, merge_settings });

describe('merging into the default branch', () => {
  test('closes the issues of text and commits, once, with event and note', async () => {
    const [a, b] = [await anIssue(), await anIssue()];
    const mentioned = await anIssue();
    const description = `closes #${a.iid}, see #${mentioned.iid}`;
    const { id, iid } = await on.open({ description }, [`Fixes #${b.iid} and #${a.iid}`]);
    await on.merge(iid).expect(200);
    for (const issue of [a, b]) {
      const closed = await shown(issue);
      expect(closed).toMatchObject({
        state: 'closed',
        closed_by: { id: cast.developer.id },
        closed_at: expect.any(String),
      });
      expect(closed.updated_at).toBe(closed.closed_at);
      expect(await notes(issue)).toEqual([`closed via merge request !${iid}`]);
      const events = await eventsOf(service.database, 'collaboration.issue.closed.v1');
      expect(events.filter((event) => event['issue_id'] === issue.id)).toMatchObject([{ closed_at: closed.closed_at }]);
      const { body } = await on
        .as('admin')
        .get(`${issuesPath(project)}/${issue.iid}/resource_state_events`)
        .expect(200);
      expect(body).toMatchObject([{ state: 'closed', user: { id: cast.developer.id } }]);
    }
    expect(await shown(mentioned)).toMatchObject({ state: 'opened', closed_by: null });
    const { body } = await on
      .as('admin')
      .get(`${issuesPath(project)}/${a.iid}/closed_by`)
      .expect(200);
    expect(body).toMatchObject([{ id, state: 'merged' }]);
  });

  test('closes them if git pushes the merge', async () => {
    const issue = await anIssue();
    const { iid, commits } = await on.open({ description: `closes #${issue.iid}` });
    await scene.git.ok(on.place.folder, 'push', '--quiet', '--force', 'origin', `${commits[0]!}:main`);
    expect((await on.shown(iid)).state).toBe('merged');
    expect(await shown(issue)).toMatchObject({ state: 'closed', closed_by: { id: cast.maintainer.id } });
    expect(await notes(issue)).toEqual([`closed via merge request !${iid}`]);
  });

  test('keeps a closed issue as it is', async () => {
    const issue = await anIssue();
    await on
      .as('owner')
      .put(`${issuesPath(project)}/${issue.iid}`)
      .send({ state_event: 'close' })
      .expect(200);
    const { iid } = await on.open({ description: `closes #${issue.iid}` });
    await on.merge(iid).expect(200);
    expect(await shown(issue)).toMatchObject({ closed_by: { id: cast.owner.id } });
    expect(await notes(issue)).toEqual(['closed']);
  });

  test('closes nothing by merging into another branch', async () => {
    const issue = await anIssue();
    await scene.branch(on.place, 'stable', ['Start']);
    const { iid } = await on.open({ description: `closes #${issue.iid}`, target_branch: 'stable' });
    await on.merge(iid).expect(200);
    expect(await shown(issue)).toMatchObject({ state: 'opened' });
  });

  test('closes nothing in a project that does not close referenced issues', async () => {
    const issue = await anIssue();
    await storeMergeSettings({ autoclose_referenced_issues: false });
    try {
      const { iid } = await on.open({ description: `closes #${issue.iid}` });
      await on.merge(iid).expect(200);
      expect(await shown(issue)).toMatchObject({ state: 'opened' });
    } finally {
      await storeMergeSettings({ autoclose_referenced_issues: true });
    }
    const { iid } = await on.open({ description: `closes #${issue.iid}` });
    await on.merge(iid).expect(200);
    expect(await shown(issue)).toMatchObject({ state: 'closed' });
  });
});

describe('the rights of the user who merges', () => {
  let public_: DirectoryProject;
  let private_: DirectoryProject;
  let publicPath: string;
  let privatePath: string;
  beforeAll(async () => {
    const home = await service.seed.group();
    public_ = await service.seed.project({ namespace_id: home.id });
    private_ = await service.seed.project({ namespace_id: home.id, visibility: 'private' });
    [publicPath, privatePath] = [`${home.full_path}/${public_.path}`, `${home.full_path}/${private_.path}`];
    for (const place of [public_, private_]) await service.seed.member(cast.owner, place, 'owner');
  });

  test.each<[string, (merger: keyof Cast) => Promise<[string, ShownIssue, DirectoryProject]>, boolean]>([
    [
      'no role in the project of the issue',
      async () => [publicPath, await anIssue({}, { of: public_ }), public_],
      false,
    ],
    [
      'authorship of the issue',
      async (merger) => [publicPath, await anIssue({}, { of: public_, by: merger }), public_],
      true,
    ],
    [
      'an assignment',
      async (merger) => {
        const assignee_ids = [cast[merger].id];
        return [publicPath, await anIssue({ assignee_ids }, { of: public_ }), public_];
      },
      true,
    ],
    ['no access to the project', async () => [privatePath, await anIssue({}, { of: private_ }), private_], false],
    [
      'an archived project',
      async (merger) => {
        const issue = await anIssue({}, { of: public_, by: merger });
        await service.seed.put('projects', { ...public_, archived: true });
        return [publicPath, issue, public_];
      },
      false,
    ],
  ])('with %s, closing is as allowed as through the API', async (_, prepare, closes) => {
    try {
      const [path, issue, of] = await prepare('developer');
      const { iid } = await on.open({ description: `closes ${path}#${issue.iid}` }, undefined, 'maintainer');
      await on.merge(iid).expect(200);
      expect((await shown(issue, of)).state).toBe(closes ? 'closed' : 'opened');
      if (closes) expect(await notes(issue, of)).toContain(`closed via merge request ${fullPath}!${iid}`);
    } finally {
      await service.seed.put('projects', public_);
    }
  });

  test('the note hides the merge request from readers who may not see it', async () => {
    const closed = await MergeActions.in(service, scene, null, { visibility: 'private' });
    await service.seed.member(closed.place.cast.developer, public_, 'developer');
    const issue = await anIssue({}, { of: public_ });
    const { iid } = await closed.open({ description: `closes ${publicPath}#${issue.iid}` });
    await closed.merge(iid).expect(200);
    expect(await notes(issue, public_)).toEqual([`closed via merge request ${closed.place.fullPath}!${iid}`]);
    expect(await notes(issue, public_, 'stranger')).toEqual([
      'closed via merge request something that you may not see',
    ]);
  });
});

describe('a push to the default branch', () => {
  test('closes the issues of its commits with the rights of the pusher', async () => {
    const [a, b] = [await anIssue(), await anIssue()];
    const sha = await on.pushMain(`Work\n\nFixes #${a.iid} and http://localhost:8080/${fullPath}/-/issues/${b.iid}`);
    for (const issue of [a, b]) {
      expect(await shown(issue)).toMatchObject({ state: 'closed', closed_by: { id: cast.maintainer.id } });
      expect(await notes(issue)).toEqual([`closed via commit ${sha}`]);
    }
  });

  test('of several commits, the oldest closes', async () => {
    const issue = await anIssue();
    await scene.git.ok(on.place.folder, 'fetch', '--quiet', 'origin');
    await scene.git.ok(on.place.folder, 'checkout', '--quiet', '-B', 'main', 'origin/main');
    const [first] = await scene.push(on.place, 'main', [`Fix #${issue.iid}`, `Fix #${issue.iid} again`]);
    expect(await notes(issue)).toEqual([`closed via commit ${first}`]);
  });

  test('by a commit of the API closes too, and a push to another branch does not', async () => {
    const [a, b] = [await anIssue(), await anIssue()];
    const commit = (branch: string, issue: ShownIssue, start_branch?: string) =>
      on
        .as('developer')
        .post(`/api/v4/projects/${project.id}/repository/commits`)
        .send({
          branch,
          start_branch,
          commit_message: `Closes #${issue.iid}`,
          actions: [{ action: 'create', file_path: `file-${issue.iid}`, content: 'x' }],
        })
        .expect(201);
    const { body } = await commit('main', a);
    await commit('elsewhere', b, 'main');
    expect(await notes(a)).toEqual([`closed via commit ${(body as { id: string }).id}`]);
    expect(await shown(b)).toMatchObject({ state: 'opened' });
  });

  test('names a commit of another project by its path only if that project is public', async () => {
    const elsewhere = await service.seed.group();
    const other = await service.seed.project({ namespace_id: elsewhere.id });
    const path = `${elsewhere.full_path}/${other.path}`;
    const closed = await MergeActions.in(service, scene, null, { visibility: 'private' });
    for (const user of [cast.maintainer, closed.place.cast.maintainer, cast.owner])
      await service.seed.member(user, other, 'maintainer');
    const [a, b] = [await anIssue({}, { of: other }), await anIssue({}, { of: other })];
    const fromPublic = await on.pushMain(`Closes ${path}#${a.iid}`);
    const fromPrivate = await closed.pushMain(`Closes ${path}#${b.iid}`);
    expect(await notes(a, other)).toEqual([`closed via commit ${fullPath}@${fromPublic}`]);
    expect(await notes(b, other)).toEqual([`closed via commit ${fromPrivate}`]);
  });

  test('a second settlement of a push changes nothing', async () => {
    const issue = await anIssue();
    await on.pushMain(`Closes #${issue.iid}`);
    await on
      .as('owner')
      .put(`${issuesPath(project)}/${issue.iid}`)
      .send({ state_event: 'reopen' })
      .expect(200);
    const [push] = await service.database.query<{ id: number }>('select max(id)::integer as id from pushes');
    const repository = (await service.app.get(ProjectRepositories).findRepository(project.id))!;
    await service.app.get(PushSettlement).settlePush(repository, push!.id, null);
    expect(await shown(issue)).toMatchObject({ state: 'opened' });
    // Its commits are not pushed again with the next push.
    await on.pushMain('More');
    expect(await shown(issue)).toMatchObject({ state: 'opened' });
  });
});
