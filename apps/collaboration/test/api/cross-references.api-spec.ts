import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { startNats } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

type IssueIds = { readonly id: number; readonly iid: number };

const UNSEEN = 'mentioned in issue something that you may not see';

let service: SeededService;
let nats: PrivateNats;
let worker: Worker;
let group: DirectoryNamespace;
let project: DirectoryProject;
/** A private project of another group; the owner is a member of both. */
let secret: DirectoryProject;
let secretPath: string;
let path: string;
let cast: Cast;
let target: IssueIds;

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
});
afterAll(async () => {
  await worker.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  group = await service.seed.group();
  project = await service.seed.project({ namespace_id: group.id });
  const elsewhere = await service.seed.group();
  secret = await service.seed.project({ namespace_id: elsewhere.id, visibility: 'private' });
  cast = await castOf(service.seed, project);
  await service.seed.member(cast.owner, secret, 'owner');
  path = `${group.full_path}/${project.path}`;
  secretPath = `${elsewhere.full_path}/${secret.path}`;
  target = await anIssue();
});

const { by, anIssue, comment, edit } = issueActions(() => ({ service, project, cast }));
const anIssueIn = async (of: DirectoryProject, fields: Record<string, unknown> = {}): Promise<IssueIds> =>
  (
    await by(cast.owner)
      .post(`/api/v4/projects/${of.id}/issues`)
      .send({ title: 'There', ...fields })
      .expect(201)
  ).body as IssueIds;
const referenceNotes = async (who: SeededUser = cast.owner, of = target, inside = project): Promise<string[]> => {
  await worker.drained();
  const list = `/api/v4/projects/${inside.id}/issues/${of.iid}/notes?activity_filter=only_activity&sort=asc`;
  const { body, headers } = await by(who).get(list).expect(200);
  expect(headers['x-total']).toBe(String((body as unknown[]).length));
  return (body as { body: string }[]).map((note) => note.body);
};

describe('a referenced issue', () => {
  test('gets a note for a title, description or comment, from the same project, a sibling and another group', async () => {
    const sibling = await service.seed.project({ namespace_id: group.id });
    await service.seed.member(cast.owner, sibling, 'owner');
    const titled = await anIssue({ title: `After #${target.iid}` });
    const described = await anIssueIn(sibling, { description: `As ${project.path}#${target.iid} says` });
    const commented = await anIssueIn(secret);
    await by(cast.owner)
      .post(`/api/v4/projects/${secret.id}/issues/${commented.iid}/notes`)
      .send({ body: `see ${path.toUpperCase()}#${target.iid}` })
      .expect(201);
    expect((await referenceNotes()).sort()).toEqual(
      [
        `mentioned in issue #${titled.iid}`,
        `mentioned in issue ${group.full_path}/${sibling.path}#${described.iid}`,
        `mentioned in issue ${secretPath}#${commented.iid}`,
      ].sort(),
    );
    const [note] = (
      await by(cast.owner).get(`/api/v4/projects/${project.id}/issues/${target.iid}/notes?sort=asc`).expect(200)
    ).body as Record<string, unknown>[];
    expect(note).toMatchObject({ system: true, author: { id: cast.owner.id } });
  });

  test('gets one note for each referencing issue', async () => {
    const other = await anIssue({ title: `#${target.iid} and #${target.iid}` });
    await Promise.all(Array.from({ length: 6 }, () => comment(other, `again #${target.iid}`)));
    await edit(other, { description: `and ${path}#${target.iid}` });
    expect(await referenceNotes()).toEqual([`mentioned in issue #${other.iid}`]);
  });

  test('gets a note by the last editor of the text, even if the event is handled late', async () => {
    const hidden = await anIssueIn(secret);
    const where = `/api/v4/projects/${project.id}/issues`;
    await worker.drained();
    await worker.stop();
    try {
      // The author can read the referenced issue, the editor cannot.
      const sent = { title: 'x', description: `see #${target.iid}` };
      const { body } = await by(cast.owner).post(where).send(sent).expect(201);
      const description = `see ${secretPath}#${hidden.iid} and #${target.iid}`;
      await edit(body as IssueIds, { description }, cast.maintainer);
    } finally {
      worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
    }
    expect(await referenceNotes(cast.owner, hidden, secret)).toEqual([]);
    expect(await referenceNotes()).toHaveLength(1);
  });

  test('gets a note when a text is changed', async () => {
    const other = await anIssue();
    const note = await comment(other, 'not yet');
    expect(await referenceNotes()).toEqual([]);
    await by(cast.owner)
      .put(`/api/v4/projects/${project.id}/issues/${other.iid}/notes/${note.id}`)
      .send({ body: `now #${target.iid}` })
      .expect(200);
    const third = await anIssue();
    await edit(third, { title: `now #${target.iid}` });
    expect((await referenceNotes()).sort()).toEqual(
      [`mentioned in issue #${other.iid}`, `mentioned in issue #${third.iid}`].sort(),
    );
  });

  test('gets no note for its own texts, code, internal notes and copies', async () => {
    await comment(target, `#${target.iid} is this one`);
    const other = await anIssue({ description: `\`#${target.iid}\`` });
    await comment(other, `among us #${target.iid}`, cast.reporter, { internal: true });
    const named = await anIssueIn(secret, { description: `#${target.iid}` });
    await by(cast.owner)
      .post(`/api/v4/projects/${secret.id}/issues/${named.iid}/move`)
      .send({ to_project_id: project.id })
      .expect(201);
    expect(await referenceNotes()).toEqual([]);
  });

  test('gets no note if the author of the text cannot read it', async () => {
    const hidden = await anIssueIn(secret);
    const confidential = await anIssue({ confidential: true });
    await anIssue({ title: `${secretPath}#${hidden.iid} #${confidential.iid}` }, cast.guest);
    expect(await referenceNotes(cast.owner, hidden, secret)).toEqual([]);
    expect(await referenceNotes(cast.owner, confidential)).toEqual([]);
    const other = await anIssue({ title: `#${confidential.iid}` }, cast.planner);
    expect(await referenceNotes(cast.owner, confidential)).toEqual([`mentioned in issue #${other.iid}`]);
    await service.seed.put('projects', { ...secret, issues_access_level: 'disabled' });
    await anIssue({ title: `${secretPath}#${hidden.iid}` });
    await worker.drained();
    await service.seed.put('projects', secret);
    expect(await referenceNotes(cast.owner, hidden, secret)).toEqual([]);
  });

  test('can be an epic, or be referenced by one', async () => {
    await service.seed.member(cast.owner, group, 'owner');
    const epics = `/api/v4/groups/${group.id}/epics`;
    const { body: first } = await by(cast.owner)
      .post(epics)
      .send({ title: `With ${project.path}#${target.iid} and #${target.iid}` })
      .expect(201);
    const { body: second } = await by(cast.owner).post(epics).send({ title: 'Named' }).expect(201);
    const [epic, other] = [first, second] as (IssueIds & { confidential: boolean })[];
    await by(cast.owner)
      .put(`${epics}/${epic!.iid}`)
      .send({ description: `&${other!.iid}` })
      .expect(200);
    const issue = await anIssue({ description: `&${other!.iid}` });
    expect(await referenceNotes()).toEqual([`mentioned in epic ${group.full_path}&${epic!.iid}`]);
    const { body: notes } = await by(cast.owner).get(`${epics}/${other!.id}/notes?sort=asc`).expect(200);
    expect((notes as { body: string }[]).map((note) => note.body).sort()).toEqual(
      [`mentioned in epic &${epic!.iid}`, `mentioned in issue ${path}#${issue.iid}`].sort(),
    );
    await by(cast.owner).put(`${epics}/${epic!.iid}`).send({ confidential: true }).expect(200);
    expect([await referenceNotes(cast.guest), await referenceNotes(cast.stranger)]).toEqual(
      Array(2).fill([UNSEEN.replace('issue', 'epic')]),
    );
  });

  test('gets no to-do and no feed entry', async () => {
    await edit(target, { assignee_ids: [cast.reporter.id] });
    await anIssue({ title: `#${target.iid}` });
    expect(await referenceNotes()).toHaveLength(2);
    const todos = await by(cast.reporter).get('/api/v4/todos').expect(200);
    expect((todos.body as { action_name: string }[]).map((todo) => todo.action_name)).toEqual(['assigned']);
    const feed = await by(cast.owner).get(`/api/v4/projects/${project.id}/events?target_type=note`).expect(200);
    expect(feed.body).toEqual([]);
  });

  test('gets a note from a text with many references if it is among the first fifty', async () => {
    const issues = await Promise.all(Array.from({ length: 52 }, () => anIssue()));
    const sorted = issues.sort((a, b) => a.iid - b.iid);
    const other = await anIssue({ description: sorted.map(({ iid }) => `#${iid}`).join(' ') });
    expect(await referenceNotes(cast.owner, sorted[49])).toEqual([`mentioned in issue #${other.iid}`]);
    expect(await referenceNotes(cast.owner, sorted[50])).toEqual([]);
  });
});

describe('visibility of the referencing issue', () => {
  test.each<[keyof Cast, boolean]>([
    ['admin', true],
    ['owner', true],
    ['developer', false],
    ['guest', false],
    ['stranger', false],
    ['external', false],
  ])('%s sees the issue of a private project: %s', async (name, isVisible) => {
    const there = await anIssueIn(secret, { title: `${path}#${target.iid}` });
    expect(await referenceNotes(cast[name])).toEqual([
      isVisible ? `mentioned in issue ${secretPath}#${there.iid}` : UNSEEN,
    ]);
  });

  test.each<[keyof Cast, boolean]>([
    ['planner', true],
    ['guest', false],
    ['stranger', false],
  ])('%s sees the confidential issue: %s', async (name, isVisible) => {
    const there = await anIssue({ title: `#${target.iid}`, confidential: true });
    expect(await referenceNotes(cast[name])).toEqual([isVisible ? `mentioned in issue #${there.iid}` : UNSEEN]);
  });

  test('a deleted issue is shown to no user', async () => {
    const there = await anIssue({ title: `#${target.iid}` });
    expect(await referenceNotes()).toHaveLength(1);
    await by(cast.owner).delete(`/api/v4/projects/${project.id}/issues/${there.iid}`).expect(204);
    expect(await referenceNotes()).toEqual([UNSEEN]);
  });
});
