import type { SeededService } from '@rookery/testing';
import { eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';
import { MergeCommandsJob } from '../../src/work/merge-requests/quick-actions/merge-commands.job';

let service: SeededService;
let scene: MergeRequestScene;
let here: MergeActions;
let id: number;
let iid: number;
let source: string;
let head: string;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  here = await MergeActions.in(service, scene);
  const { owner } = here.place.cast;
  const project = `/api/v4/projects/${here.place.project.id}`;
  for (const name of ['bug', 'needs work'])
    await here.as(owner).post(`${project}/labels`).send({ name, color: '#ff0000' }).expect(201);
  await here.as(owner).post(`${project}/milestones`).send({ title: 'v1' }).expect(201);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});
beforeEach(async () => {
  const opened = await here.open();
  ({ id, iid, source } = opened);
  head = opened.commits.at(-1)!;
});

type CastName = keyof Cast;
const say = (body: string, who: CastName = 'developer', more: object = {}) =>
  here
    .as(who)
    .post(`${here.path(iid)}/notes`)
    .send({ body, ...more });
const username = (who: CastName): string => here.place.cast[who].username;
const refused = (problem: string) => ({ message: { commands_only: [problem] } });
interface MergeCommand {
  readonly command: 'merge' | 'rebase';
  readonly project_id: number;
  readonly iid: number;
  readonly user_id: number;
  readonly version_id: number;
}
/** Runs the waiting jobs of quick actions. Returns their parameters. */
async function runJobs(): Promise<MergeCommand[]> {
  const rows = await service.database.query<{ params: MergeCommand }>(
    `delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
     where t.id = j.task_id and t.identifier = 'run-merge-command' returning j.payload as params`,
  );
  for (const { params } of rows) await service.app.get(MergeCommandsJob).run({ params });
  return rows.map(({ params }) => params);
}

describe('fields', () => {
  test('are changed by one change, with the same notes as a request', async () => {
    const text = [
      `/title Another`,
      `/draft`,
      `/assign @${username('maintainer')} me`,
      `/reviewer @${username('owner')}`,
      '/label ~bug ~"needs work"',
      '/milestone %v1',
      '/lock',
    ].join('\n');
    const { body } = await say(text).expect(202);
    const { maintainer, developer, owner } = here.place.cast;
    expect(body).toEqual({
      commands_changes: {
        ...{ title: 'Another', wip_event: 'draft', assignee_ids: [maintainer.id, developer.id] },
        ...{ reviewer_ids: [owner.id], add_label_ids: [expect.any(Number), expect.any(Number)] },
        ...{ milestone_id: expect.any(Number), discussion_locked: true },
      },
      summary: [
        `Changed the title to "Another". Marked this merge request as draft. Assigned @${maintainer.username} @${developer.username}. Requested a review from @${owner.username}. Added ~bug ~"needs work". Set the milestone to %"v1". Locked the discussion.`,
      ],
    });
    expect(await here.shown(iid)).toMatchObject({
      ...{ title: 'Draft: Another', draft: true, labels: ['bug', 'needs work'], milestone: { title: 'v1' } },
      ...{ discussion_locked: true, user_notes_count: 0 },
      assignees: [{ id: maintainer.id }, { id: developer.id }],
      reviewers: [{ id: owner.id }],
    });
    const updated = await eventsOf(service.database, 'collaboration.merge_request.updated.v1');
    expect(updated.filter((event) => event['merge_request_id'] === id)).toHaveLength(1);
    expect(await here.notes(iid)).toEqual(
      expect.arrayContaining([
        'locked this merge request',
        `requested review from @${owner.username}`,
        'marked this merge request as **draft**',
      ]),
    );
  });

  test('reviewers and assignees are replaced and removed', async () => {
    await say(`/assign me\n/request_review @${username('owner')}`).expect(202);
    await say(`/reassign @${username('owner')}\n/reassign_reviewer @${username('maintainer')}`).expect(202);
    const { owner, maintainer } = here.place.cast;
    expect(await here.shown(iid)).toMatchObject({ assignees: [{ id: owner.id }], reviewers: [{ id: maintainer.id }] });
    await say(`/unassign\n/unassign_reviewer @${username('maintainer')}`).expect(202);
    expect(await here.shown(iid)).toMatchObject({ assignees: [], reviewers: [] });
  });

  test('it is closed, reopened, and made ready', async () => {
    expect((await say('/close').expect(202)).body).toEqual({
      commands_changes: { state_event: 'close' },
      summary: ['Closed this merge request.'],
    });
    expect(await here.shown(iid)).toMatchObject({ state: 'closed', closed_by: { id: here.place.cast.developer.id } });
    await say('/reopen\n/draft').expect(202);
    expect(await here.shown(iid)).toMatchObject({ state: 'opened', draft: true });
    expect((await say('/ready').expect(202)).body).toMatchObject({ commands_changes: { wip_event: 'ready' } });
    expect(await here.shown(iid)).toMatchObject({ title: 'A change', draft: false });
  });

  test('it cannot be reopened without its source branch, nor next to another one of its branches', async () => {
    await say('/close').expect(202);
    const { body } = await here
      .as('developer')
      .post(here.place.path)
      .send({ title: 'Second', source_branch: source, target_branch: 'main' })
      .expect(201);
    expect((await say('/reopen').expect(400)).body).toEqual(
      refused('Could not apply /reopen: Another open merge request already exists for this source branch.'),
    );
    await here
      .as('owner')
      .delete(here.path((body as { iid: number }).iid))
      .expect(204);
    const branches = `/api/v4/projects/${here.place.project.id}/repository/branches`;
    await here.as('owner').delete(`${branches}/${source}`).expect(204);
    expect((await say('/reopen').expect(400)).body).toEqual(
      refused('Could not apply /reopen: its source or target branch does not exist.'),
    );
  });

  test('another target branch brings a version', async () => {
    const target = `target-${iid}`;
    await scene.branch(here.place, target, ['Elsewhere']);
    expect((await say(`/target_branch ${target}`).expect(202)).body).toEqual({
      commands_changes: { target_branch: target },
      summary: [`Set the target branch to ${target}.`],
    });
    expect(await here.shown(iid)).toMatchObject({ target_branch: target, sha: head });
    expect(await here.notes(iid)).toContainEqual(`changed target branch from \`main\` to \`${target}\``);
    const { body } = await here
      .as('developer')
      .get(`${here.path(iid)}/versions`)
      .expect(200);
    expect(body).toHaveLength(2);
  });

  test.each<[string, () => string, string]>([
    ['/target_branch', () => '/target_branch nowhere', 'the branch does not exist'],
    ['/target_branch', () => '/target_branch main', 'it is the target branch already'],
    ['/target_branch', () => '/target_branch a..b', 'the branch is invalid'],
    ['/target_branch', () => `/target_branch ${source}`, "You can't use same project/branch for source and target"],
    ['/reopen', () => '/reopen', 'it is open already'],
    ['/ready', () => '/ready', 'it is ready already'],
    ['/unlock', () => '/unlock', 'it is not locked'],
    ['/assign_reviewer', () => '/assign_reviewer @nobody-at-all', 'it names nobody who could be meant'],
    ['/label', () => '/label ~nope', 'it names no label that is known here'],
    ['/unapprove', () => '/unapprove', 'you have not approved it'],
    ['/merge', () => '/merge', 'the request has no merge_request_diff_head_sha'],
  ])('%s is refused with its reason', async (name, text, why) => {
    expect((await say(text()).expect(400)).body).toEqual(refused(`Could not apply ${name}: ${why}.`));
  });

  test('a draft title keeps the limit of titles', async () => {
    await say(`/title ${'x'.repeat(255)}`).expect(202);
    expect((await say('/draft').expect(400)).body).toEqual(
      refused('Could not apply /draft: the title is too long (maximum is 255 characters).'),
    );
  });
});

test('the description of a new merge request runs commands on it', async () => {
  const opened = await here.open({
    description: `Words\n\n/label ~bug\n/assign_reviewer @${username('owner')}\n/draft\n/approve\n/merge\n/target_branch main\n/spend 1h`,
  });
  expect(await here.shown(opened.iid)).toMatchObject({
    ...{ description: 'Words', labels: ['bug'], title: 'Draft: A change', draft: true },
    ...{ reviewers: [{ id: here.place.cast.owner.id }], time_stats: { total_time_spent: 3600 } },
  });
  expect(await runJobs()).toEqual([]);
});

describe('approvals', () => {
  test('are given and withdrawn, with the rest of the text as a note', async () => {
    expect((await say('Fine.\n/approve', 'maintainer').expect(201)).body).toMatchObject({
      body: 'Fine.',
      commands_changes: { approve: true },
    });
    const approvals = async () =>
      (
        await here
          .as('developer')
          .get(`${here.path(iid)}/approvals`)
          .expect(200)
      ).body as { approved_by: unknown[] };
    expect(await approvals()).toMatchObject({ approved_by: [{ user: { id: here.place.cast.maintainer.id } }] });
    expect(await here.notes(iid)).toContain('approved this merge request');
    expect((await say('/approve', 'maintainer').expect(400)).body).toEqual(
      refused('Could not apply /approve: you are not allowed to.'),
    );
    expect((await say('/unapprove', 'maintainer').expect(202)).body).toEqual({
      commands_changes: { unapprove: true },
      summary: ['Withdrew the approval.'],
    });
    expect(await approvals()).toMatchObject({ approved_by: [] });
  });
});

describe('/merge', () => {
  test('merges as its user after the note', async () => {
    const { body } = await say('Done.\n/merge', 'developer', { merge_request_diff_head_sha: head }).expect(201);
    expect(body).toMatchObject({ body: 'Done.', commands_changes: { merge: head } });
    expect(await here.shown(iid)).toMatchObject({ state: 'opened' });
    const who = { project_id: here.place.project.id, iid, user_id: here.place.cast.developer.id };
    const [job] = await runJobs();
    expect([job]).toEqual([{ command: 'merge', ...who, version_id: expect.any(Number) }]);
    const merged = await here.shown(iid);
    expect(merged).toMatchObject({ state: 'merged', merge_user: { id: here.place.cast.developer.id } });
    // A repeated run changes nothing.
    await service.app.get(MergeCommandsJob).run({ params: job! });
    expect(await here.shown(iid)).toEqual(merged);
  });

  test('waits for checks that may pass later', async () => {
    await say('/draft').expect(202);
    const { body } = await say('/merge', 'developer', { merge_request_diff_head_sha: head }).expect(202);
    expect(body).toMatchObject({ summary: ['Scheduled to merge this merge request when all checks pass.'] });
    await runJobs();
    expect(await here.shown(iid)).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true });
  });

  test('is refused for another head, a closed merge request, and a user who may not merge', async () => {
    const merge = (who: CastName = 'developer', sha = head) => say('/merge', who, { merge_request_diff_head_sha: sha });
    expect((await merge('developer', '0'.repeat(40)).expect(400)).body).toEqual(
      refused('Could not apply /merge: the branch has been updated since then.'),
    );
    expect((await merge('reporter').expect(400)).body).toEqual(
      refused('Could not apply /merge: you are not allowed to.'),
    );
    await say('/close').expect(202);
    expect((await merge().expect(400)).body).toEqual(refused('Could not apply /merge: it cannot be merged now.'));
    expect(await runJobs()).toEqual([]);
  });

  test('does not merge for a user who lost the right, nor a head that moved meanwhile', async () => {
    await say('/merge', 'developer', { merge_request_diff_head_sha: head }).expect(202);
    await scene.push(here.place, source, ['Later']);
    await runJobs();
    expect(await here.shown(iid)).toMatchObject({ state: 'opened' });
    const sha = (await here.shown(iid)).sha;
    await say('/merge', 'maintainer', { merge_request_diff_head_sha: sha }).expect(202);
    const lost = here.place.cast.maintainer.id;
    await service.database.query(`update directory_users set state = 'blocked' where id = $1`, [lost]);
    await runJobs();
    await service.database.query(`update directory_users set state = 'active' where id = $1`, [lost]);
    expect(await here.shown(iid)).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: false });
  });
});

describe('/rebase', () => {
  test('rebases the source branch as its user', async () => {
    const main = await here.pushMain('Newer main', `main-${iid}`);
    expect((await say('/rebase').expect(202)).body).toEqual({
      commands_changes: { rebase: true },
      summary: [`Scheduled a rebase of branch ${source}.`],
    });
    expect(await runJobs()).toMatchObject([{ command: 'rebase', iid }]);
    const { sha } = await here.shown(iid);
    expect((await here.commit(sha)).parents).toEqual([main]);
  });

  test('is refused for a closed merge request and a user who may not push', async () => {
    expect((await say('/rebase', 'reporter').expect(400)).body).toEqual(
      refused('Could not apply /rebase: you are not allowed to.'),
    );
    await say('/close').expect(202);
    expect((await say('/rebase').expect(400)).body).toEqual(refused('Could not apply /rebase: it is not open.'));
  });
});

describe('rights', () => {
  const PEOPLE: readonly CastName[] = ['stranger', 'guest', 'reporter', 'developer', 'maintainer', 'owner'];
  const WRITERS: readonly CastName[] = ['developer', 'maintainer', 'owner'];
  test.each<[string, readonly CastName[]]>([
    ['/close', WRITERS],
    ['/title Other', WRITERS],
    ['/draft', WRITERS],
    ['/assign me', WRITERS],
    ['/reviewer me', WRITERS],
    ['/label ~bug', WRITERS],
    ['/milestone %v1', WRITERS],
    ['/lock', WRITERS],
    ['/approve', WRITERS],
    ['/rebase', WRITERS],
    ['/merge', WRITERS],
    ['/subscribe', PEOPLE],
  ])('%s is for %j', async (command, may) => {
    const statuses: Record<string, number> = {};
    for (const who of PEOPLE) {
      const opened = await here.open({}, undefined, 'maintainer');
      iid = opened.iid;
      const sha = opened.commits.at(-1);
      statuses[who] = (await say(command, who, { merge_request_diff_head_sha: sha })).status;
    }
    const author = command === '/subscribe' ? ['maintainer'] : [];
    const expected = PEOPLE.map((who) => [who, may.includes(who) && !author.includes(who) ? 202 : 400]);
    expect(statuses).toEqual(Object.fromEntries(expected));
  });

  test('the author without a role changes texts and the state only', async () => {
    await service.database.query('update merge_requests set author_id = $1 where project_id = $2 and iid = $3', [
      here.place.cast.stranger.id,
      here.place.project.id,
      iid,
    ]);
    await say('/title Mine\n/close', 'stranger').expect(202);
    expect((await say('/label ~bug', 'stranger').expect(400)).body).toEqual(
      refused('Could not apply /label: you are not allowed to.'),
    );
  });
});

test('the head is named as a parameter without effect on other kinds', async () => {
  const issues = `/api/v4/projects/${here.place.project.id}/issues`;
  const { body } = await here.as('developer').post(issues).send({ title: 'x' }).expect(201);
  const { headers } = await here
    .as('developer')
    .post(`${issues}/${(body as { iid: number }).iid}/notes`)
    .send({ body: 'Text', merge_request_diff_head_sha: head })
    .expect(201);
  expect(headers['x-rookery-ignored']).toContain('merge_request_diff_head_sha');
});
