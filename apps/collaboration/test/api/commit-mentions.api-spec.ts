import { startNats } from '@rookery/testing';
import type { PrivateNats, SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

type IssueIds = { readonly id: number; readonly iid: number };

let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let scene: MergeRequestScene;
let on: MergeActions;

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
  scene = await MergeRequestScene.start(service);
  on = await MergeActions.in(service, scene);
});
afterAll(async () => {
  await scene.stop();
  await worker.stop();
  await nats.drop();
  await service.close();
});

const issuesPath = (of = on): string => `/api/v4/projects/${of.place.project.id}/issues`;
const anIssue = async (fields: Record<string, unknown> = {}, of = on): Promise<IssueIds> =>
  (
    await of
      .as('owner')
      .post(issuesPath(of))
      .send({ title: 'Work', ...fields })
      .expect(201)
  ).body as IssueIds;
const listSystemNotes = async ({ iid }: IssueIds, of = on): Promise<string[]> => {
  const query = { sort: 'asc', activity_filter: 'only_activity' };
  const { body } = await of
    .as('admin')
    .get(`${issuesPath(of)}/${iid}/notes`)
    .query(query)
    .expect(200);
  return (body as { body: string }[]).map((note) => note.body);
};

describe('a pushed commit', () => {
  test('mentions issues and merge requests on any branch, once, by the pusher', async () => {
    const [issue, request] = [await anIssue(), await on.open()];
    const [sha] = await scene.branch(on.place, 'feature', [`For #${issue.iid} and !${request.iid}`]);
    await scene.git.ok(on.place.folder, 'push', '--quiet', 'origin', 'feature:feature-2');
    expect(await listSystemNotes(issue)).toEqual([`mentioned in commit ${sha}`]);
    expect(await on.notes(request.iid)).toEqual([`mentioned in commit ${sha}`]);
    const { body } = await on.as('owner').get(`${issuesPath()}/${issue.iid}/notes`).expect(200);
    expect(body).toMatchObject([{ system: true, author: { id: on.place.cast.maintainer.id } }]);
    expect((await on.as('owner').get('/api/v4/todos').expect(200)).body).toEqual([]);
  });

  test('does not mention an issue that it closes, and a merge does not repeat a mention', async () => {
    const [a, b] = [await anIssue(), await anIssue()];
    const sha = await on.pushMain(`Fixes #${a.iid}`);
    expect(await listSystemNotes(a)).toEqual([`closed via commit ${sha}`]);
    const { iid, commits } = await on.open({}, [`For #${b.iid}`]);
    await on.merge(iid).expect(200);
    expect(await listSystemNotes(b)).toEqual([`mentioned in commit ${commits[0]}`]);
    expect(await on.notes(iid)).toEqual(['merged']);
  });

  test('is not named to readers who may not read the code', async () => {
    const closed = await MergeActions.in(service, scene, null, { repository_access_level: 'private' });
    const [mentioned, ended] = [await anIssue({}, closed), await anIssue({}, closed)];
    const sha = await closed.pushMain(`For #${mentioned.iid}, closes #${ended.iid}`);
    const bodiesFor = async (role: 'stranger' | 'guest' | 'developer'): Promise<string[]> => {
      const found: string[] = [];
      for (const { iid } of [mentioned, ended]) {
        const { body } = await closed
          .as(role)
          .get(`${issuesPath(closed)}/${iid}/discussions`)
          .expect(200);
        found.push(...(body as { notes: { body: string }[] }[]).flatMap((one) => one.notes.map((note) => note.body)));
        const notesOf = await closed
          .as(role)
          .get(`${issuesPath(closed)}/${iid}/notes`)
          .expect(200);
        expect((notesOf.body as { body: string }[]).map((note) => note.body)).toEqual(found.slice(-1));
      }
      return found;
    };
    const hidden = 'something that you may not see';
    expect(await bodiesFor('stranger')).toEqual([`mentioned in commit ${hidden}`, `closed via commit ${hidden}`]);
    expect(await bodiesFor('developer')).toEqual([`mentioned in commit ${sha}`, `closed via commit ${sha}`]);
  });

  test('does not mention an issue that the pusher may not see, or code does not', async () => {
    const hidden = await MergeActions.in(service, scene, null, { visibility: 'private' });
    const there = await anIssue({}, hidden);
    await on.pushMain(`See ${hidden.place.fullPath}#${there.iid} and \`${hidden.place.fullPath}#${there.iid}\``);
    expect(await listSystemNotes(there, hidden)).toEqual([]);
  });

  test('of another project is mentioned with its path if that project is public', async () => {
    const hidden = await MergeActions.in(service, scene, null, { visibility: 'private' });
    const other = await MergeActions.in(service, scene);
    const issue = await anIssue();
    await hidden.pushMain(`See ${on.place.fullPath}#${issue.iid}`);
    const sha = await other.pushMain(`See ${on.place.fullPath}#${issue.iid}`);
    expect(await listSystemNotes(issue)).toEqual([`mentioned in commit ${other.place.fullPath}@${sha}`]);
  });
});

test('a merge request mentions issues, and its comments relate them', async () => {
  const [a, b] = [await anIssue(), await anIssue()];
  const { id, iid } = await on.open({ description: `See #${a.iid}` });
  await on
    .as('developer')
    .post(`${on.path(iid)}/notes`)
    .send({ body: `And #${b.iid}` })
    .expect(201);
  await worker.drained();
  for (const issue of [a, b]) {
    expect(await listSystemNotes(issue)).toEqual([`mentioned in merge request !${iid}`]);
    const { body } = await on.as('developer').get(`${issuesPath()}/${issue.iid}/related_merge_requests`).expect(200);
    expect(body).toMatchObject([{ id }]);
  }
  const { body } = await on
    .as('developer')
    .get(`${on.path(iid)}/related_issues`)
    .expect(200);
  expect(body).toMatchObject([{ id: a.id }, { id: b.id }]);
});
