import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { SeededService } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { MergeRequestScene } from '../support/merge-request-scene';

interface Labelled {
  readonly iid: number;
  readonly labels: readonly string[];
}

let service: SeededService;
let scene: MergeRequestScene;
let group: DirectoryNamespace;
let project: DirectoryProject;
let cast: Cast;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});
const usePlaceWithPlan = async (plan: DirectoryNamespace['plan']): Promise<void> => {
  group = await service.seed.group({ plan });
  project = await service.seed.project({ namespace_id: group.id });
  cast = await castOf(service.seed, project);
  await service.seed.member(cast.owner, group, 'owner');
};
beforeEach(() => usePlaceWithPlan('premium'));

const { by, anIssue, comment } = issueActions(() => ({ service, project, cast }));
const issuesPath = () => `/api/v4/projects/${project.id}/issues`;
const epicsPath = () => `/api/v4/groups/${group.id}/epics`;
const made = async (path: string, fields: object): Promise<Labelled> =>
  (await by(cast.owner).post(path).send(fields).expect(201)).body as Labelled;
const put = async (path: string, fields: object): Promise<readonly string[]> =>
  ((await by(cast.owner).put(path).send(fields).expect(200)).body as Labelled).labels;
const read = async (path: string): Promise<readonly string[]> =>
  ((await by(cast.owner).get(path).expect(200)).body as Labelled).labels;

/** Steps on one noteable: what is sent, and the labels after it. */
const STEPS: readonly (readonly [object, readonly string[]])[] = [
  [{ add_labels: 'pri::2' }, ['bug', 'pri::2']],
  [{ add_labels: ['pri::3', 'team::a', 'pri::1'] }, ['bug', 'pri::1', 'team::a']],
  [{ labels: 'pri::2,pri::3,bug' }, ['bug', 'pri::3']],
  [{ add_labels: 'pri::1', remove_labels: 'pri::3' }, ['bug', 'pri::1']],
  [{ labels: ['a::b::1', 'a::c', 'a::b::2', 'plain'] }, ['a::b::2', 'a::c', 'plain']],
  [{ add_labels: 'a::b::3,a::' }, ['a::', 'a::b::3', 'a::c', 'plain']],
  [{ labels: 'A::1,a::1,::x,::y' }, ['::x', '::y', 'A::1', 'a::1']],
];

describe('labels with one scope exclude each other', () => {
  test.each([
    ['issues', issuesPath],
    ['epics', epicsPath],
  ] as const)('on %s', async (_, path) => {
    const { iid, labels } = await made(path(), { title: 'x', labels: 'pri::1,bug,pri::0' });
    expect(labels).toEqual(['bug', 'pri::0']);
    for (const [sent, expected] of STEPS) expect([sent, await put(`${path()}/${iid}`, sent)]).toEqual([sent, expected]);
  });

  test('on merge requests', async () => {
    const place = await scene.place();
    ({ project, cast } = place);
    await scene.branch(place, 'topic');
    const created = { title: 'x', source_branch: 'topic', target_branch: 'main', labels: 'pri::1,bug,pri::0' };
    const { iid, labels } = await made(place.path, created);
    expect(labels).toEqual(['bug', 'pri::0']);
    for (const [sent, expected] of STEPS) {
      expect([sent, await put(`${place.path}/${iid}`, sent)]).toEqual([sent, expected]);
    }
  });

  test('in forms and in query parameters', async () => {
    const { iid } = await made(issuesPath(), { title: 'x', labels: 'pri::1' });
    const one = `${issuesPath()}/${iid}`;
    await by(cast.owner).put(one).type('form').send('add_labels=pri::2').expect(200);
    expect(await read(one)).toEqual(['pri::2']);
    await by(cast.owner).put(one).query({ add_labels: 'pri::3' }).expect(200);
    expect(await read(one)).toEqual(['pri::3']);
  });

  test('in commands of descriptions and comments', async () => {
    for (const name of ['pri::1', 'pri::2', 'pri::3', 'bug']) {
      await by(cast.owner).post(`/api/v4/groups/${group.id}/labels`).send({ name, color: '#fff' }).expect(201);
    }
    const issue = await anIssue({ description: '/label ~"pri::1" ~bug ~"pri::2"' });
    const one = `${issuesPath()}/${issue.iid}`;
    expect(await read(one)).toEqual(['bug', 'pri::2']);
    await comment(issue, 'Later.\n/label ~"pri::3"');
    expect(await read(one)).toEqual(['bug', 'pri::3']);
    await comment(issue, 'Sooner.\n/relabel ~"pri::1" ~"pri::2"');
    expect(await read(one)).toEqual(['pri::2']);
    const epic = await made(epicsPath(), { title: 'x', description: '/label ~"pri::1"\n/label ~"pri::3"' });
    expect(await read(`${epicsPath()}/${epic.iid}`)).toEqual(['pri::3']);
  });

  test('with resource events for each label that goes', async () => {
    const { iid } = await made(issuesPath(), { title: 'x', labels: 'pri::1' });
    await put(`${issuesPath()}/${iid}`, { add_labels: 'pri::2' });
    const { body } = await by(cast.owner).get(`${issuesPath()}/${iid}/resource_label_events`).expect(200);
    const events = body as { action: string; label: { name: string } }[];
    expect(events.map(({ action, label }) => `${action} ${label.name}`)).toEqual([
      'add pri::1',
      'add pri::2',
      'remove pri::1',
    ]);
  });

  test('but only with a plan that has them; a move to such a plan keeps one', async () => {
    const paid = await service.seed.project({ namespace_id: group.id });
    await usePlaceWithPlan('free');
    const { iid } = await made(issuesPath(), { title: 'x', labels: 'pri::1' });
    expect(await put(`${issuesPath()}/${iid}`, { add_labels: 'pri::2' })).toEqual(['pri::1', 'pri::2']);
    await service.seed.member(cast.owner, paid, 'owner');
    for (const name of ['pri::1', 'pri::2']) {
      await by(cast.owner).post(`/api/v4/projects/${paid.id}/labels`).send({ name, color: '#fff' }).expect(201);
    }
    const moved = await made(`${issuesPath()}/${iid}/move`, { to_project_id: paid.id });
    expect(moved.labels).toEqual(['pri::2']);
  });
});
