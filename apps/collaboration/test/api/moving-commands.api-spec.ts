import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';

/** `/duplicate`, `/move` and `/clone`. Source: reference work-tracking 2.6, 9.1. */
type Body = Record<string, unknown>;
type Issue = Body & { readonly id: number; readonly iid: number; readonly project_id: number };
type IssueKey = Pick<Issue, 'iid' | 'project_id'>;

const UNSEEN = 'something that you may not see';

let service: SeededService;
let project: DirectoryProject;
/** A private project of another group: planners and higher roles are members of both. */
let target: DirectoryProject;
let targetPath: string;
let cast: Cast;
let issue: Issue;

beforeAll(async () => {
  service = await startCollaboration();
  const { seed } = service;
  project = await seed.project();
  const { id: namespace_id } = await seed.group({ path: 'far' });
  target = await seed.project({ namespace_id, path: 'away', visibility: 'private' });
  targetPath = 'far/away';
  cast = await castOf(seed, project);
  for (const name of ['planner', 'reporter', 'developer', 'owner'] as const)
    await seed.member(cast[name], target, name);
});
afterAll(() => service.close());
beforeEach(async () => void (issue = (await anIssue()) as Issue));

const { by, anIssue } = issueActions(() => ({ service, project, cast }));
const as = (name: keyof Cast) => by(cast[name]);
const issuePath = ({ project_id, iid }: IssueKey, tail = ''): string =>
  `/api/v4/projects/${project_id}/issues/${iid}${tail}`;
const say = (body: string, on: IssueKey = issue, who: SeededUser = cast.planner) =>
  by(who).post(issuePath(on, '/notes')).send({ body });
const shown = async (on: IssueKey = issue, who: SeededUser = cast.owner): Promise<Issue & { _links: Body }> =>
  (await by(who).get(issuePath(on)).expect(200)).body;
const notesOf = async (on: IssueKey = issue, who: SeededUser = cast.owner): Promise<string[]> => {
  const { body } = await by(who).get(issuePath(on, '/notes')).query({ sort: 'asc' }).expect(200);
  return (body as { body: string }[]).map((note) => note.body);
};
const expectedRefusalBody = (problem: string) => ({ message: { commands_only: [problem] } });
const expectRefusal = async (command: string, why: string, on?: IssueKey, who?: SeededUser) =>
  expect((await say(command, on, who).expect(400)).body).toEqual(
    expectedRefusalBody(`Could not apply ${command.split(' ')[0]}: ${why}.`),
  );
const anIssueIn = async (of: DirectoryProject, fields: Body = {}): Promise<Issue> =>
  (
    await as('admin')
      .post(`/api/v4/projects/${of.id}/issues`)
      .send({ title: 'There', ...fields })
      .expect(201)
  ).body as Issue;
const copyOf = async (on: IssueKey): Promise<Issue> => {
  const { moved_to_id: id } = await shown(on);
  return (
    await as('admin')
      .get(`/api/v4/issues/${String(id)}`)
      .expect(200)
  ).body as Issue;
};

describe('/duplicate', () => {
  test('closes the issue as a duplicate, with notes on both', async () => {
    const other = (await anIssue()) as Issue;
    const { body } = await say(`/duplicate #${other.iid}`).expect(202);
    expect(body).toEqual({
      commands_changes: { canonical_issue_id: other.id },
      summary: [`Closed this issue as a duplicate of #${other.iid}.`],
    });
    const { state, closed_by, _links } = await shown();
    expect({ state, closed_by }).toMatchObject({ state: 'closed', closed_by: { id: cast.planner.id } });
    expect(_links['closed_as_duplicate_of']).toBe(String(_links['self']).replace(/\d+$/, String(other.iid)));
    expect(await notesOf()).toEqual(['closed', `marked this issue as a duplicate of #${other.iid}`]);
    expect(await notesOf(other)).toEqual([`marked #${issue.iid} as a duplicate of this issue`]);
    const { body: listed } = await as('guest')
      .get(`/api/v4/projects/${project.id}/issues`)
      .query({ 'iids[]': issue.iid });
    expect(listed).toMatchObject([{ _links }]);
  });

  test('leaves its note on the issue, and ends when the issue is reopened', async () => {
    const other = (await anIssue()) as Issue;
    const { body } = await say(`Said before.\n/duplicate #${other.iid}`).expect(201);
    expect(body).toMatchObject({ body: 'Said before.', commands_changes: { canonical_issue_id: other.id } });
    expect(await notesOf()).toContain('Said before.');
    await expectRefusal(`/duplicate #${other.iid}`, 'it is so already');
    await say('/reopen').expect(202);
    expect((await shown())._links['closed_as_duplicate_of']).toBeNull();
    await say('/close').expect(202);
    expect((await shown())._links['closed_as_duplicate_of']).toBeNull();
    await say(`/duplicate #${other.iid}`).expect(202);
    expect((await shown())._links['closed_as_duplicate_of']).toMatch(new RegExp(`/issues/${other.iid}$`));
  });

  test('refers to issues of other projects, which are hidden from users who cannot see them', async () => {
    const there = await anIssueIn(target);
    await say(`/duplicate ${targetPath}#${there.iid}`).expect(202);
    expect(await notesOf()).toContain(`marked this issue as a duplicate of ${targetPath}#${there.iid}`);
    expect(await notesOf(issue, cast.guest)).toContain(`marked this issue as a duplicate of ${UNSEEN}`);
    // Some readers of the issue cannot see the other one.
    expect((await shown())._links['closed_as_duplicate_of']).toBeNull();
    const open = await service.seed.project({ visibility: 'public' });
    const { iid } = await anIssueIn(open);
    const [{ full_path }] = (await service.database.query<{ full_path: string }>(
      `select n.full_path || '/' || p.path as full_path from directory_projects p
         join directory_namespaces n on n.id = p.namespace_id where p.id = $1`,
      [open.id],
    )) as [{ full_path: string }];
    issue = (await anIssue()) as Issue;
    await say(`/duplicate ${full_path}#${iid}`).expect(202);
    expect((await shown())._links['closed_as_duplicate_of']).toMatch(new RegExp(`/projects/${open.id}/issues/${iid}$`));
  });

  test('hides the duplicate on the other issue from users who cannot see it', async () => {
    const other = (await anIssue()) as Issue;
    const hidden = (await anIssue({ confidential: true })) as Issue;
    await say(`/duplicate #${other.iid}`, hidden).expect(202);
    expect(await notesOf(other)).toEqual([`marked #${hidden.iid} as a duplicate of this issue`]);
    expect(await notesOf(other, cast.guest)).toEqual([`marked ${UNSEEN} as a duplicate of this issue`]);
    await say(`/duplicate #${hidden.iid}`).expect(202);
    expect((await shown(issue, cast.guest))._links['closed_as_duplicate_of']).toBeNull();
    await as('admin').delete(issuePath(other)).expect(204);
    expect((await shown(hidden))._links['closed_as_duplicate_of']).toBeNull();
  });

  test('is refused for missing, hidden, locked and archived issues, and for the issue itself', async () => {
    await expectRefusal('/duplicate soon', 'it names no issue');
    await expectRefusal('/duplicate #99999', 'it was not found');
    await expectRefusal('/duplicate no/where#1', 'it was not found');
    await expectRefusal(`/duplicate #${issue.iid}`, 'an issue is no duplicate of itself');
    const mine = (await anIssue({}, cast.guest)) as Issue;
    const hidden = (await anIssue({ confidential: true })) as Issue;
    await expectRefusal(`/duplicate #${hidden.iid}`, 'it was not found', mine, cast.guest);
    const there = await anIssueIn(target);
    await expectRefusal(`/duplicate ${targetPath}#${there.iid}`, 'it was not found', mine, cast.guest);
    const open = await service.seed.project({ visibility: 'public', path: 'open', namespace_id: project.namespace_id });
    const locked = await anIssueIn(open);
    await as('admin').put(issuePath(locked)).send({ discussion_locked: true }).expect(200);
    const path = String((locked['references'] as Body)['full']);
    await expectRefusal(`/duplicate ${path}`, 'you are not allowed to', mine, cast.guest);
    expect(await shown(mine)).toMatchObject({ state: 'opened' });
    await service.seed.put('projects', { ...open, archived: true });
    await expectRefusal(`/duplicate ${path}`, 'you are not allowed to');
    expect(await notesOf(locked)).toEqual(['locked this issue']);
  });
});

describe('/move', () => {
  test('moves the issue with the note that contains the command', async () => {
    const { body } = await say(`Better there.\n/move ${targetPath}\n/label ~unknown`).expect(201);
    expect(body).toMatchObject({
      body: 'Better there.',
      noteable_id: issue.id,
      noteable_iid: issue.iid,
      project_id: project.id,
      commands_changes: { target_project: targetPath },
    });
    const moved = await copyOf(issue);
    expect(moved).toMatchObject({ project_id: target.id, state: 'opened', user_notes_count: 1 });
    expect(await shown()).toMatchObject({ state: 'closed', user_notes_count: 1 });
    const all = await notesOf();
    expect(all.toSorted()).toEqual(['Better there.', 'closed', `moved to ${targetPath}#${moved.iid}`]);
    const copied = await notesOf(moved);
    expect(copied.toSorted()).toEqual(['Better there.', expect.stringMatching(/^moved from .*#\d+$/)]);
  });

  test('is executed after the other commands of the text', async () => {
    const { body } = await say(`/move ${targetPath}\n/title Other`).expect(202);
    const moved = await copyOf(issue);
    expect(moved).toMatchObject({ title: 'Other' });
    expect(body).toEqual({
      commands_changes: { title: 'Other', target_project: targetPath },
      summary: [`Moved this issue to ${targetPath}#${moved.iid}. Changed the title to "Other".`],
    });
  });

  test('in a reply keeps the reply in the thread of both issues', async () => {
    const { body: begun } = await as('planner')
      .post(issuePath(issue, '/discussions'))
      .send({ body: 'Where?' })
      .expect(201);
    const { id } = begun as { id: string };
    await as('planner')
      .post(issuePath(issue, `/discussions/${id}/notes`))
      .send({ body: `There.\n/move ${targetPath}` })
      .expect(201);
    const { body } = await as('owner')
      .get(issuePath(await copyOf(issue), '/discussions'))
      .expect(200);
    const threads = body as { notes: { body: string }[] }[];
    expect(threads[0]!.notes.map((note) => note.body)).toEqual(['Where?', 'There.']);
  });

  test.each([
    ['/move', 'it names no project'],
    ['/move nowhere at all', 'it names no project'],
    ['/move far/away --with_notes', 'it names no project'],
    ['/move far/nowhere', 'it was not found'],
    [`/move ${'x/'.repeat(2000)}x`, 'it names no project'],
  ])('is refused: %.40s', (command, why) => expectRefusal(command, why));

  test('is refused within a project, twice, and without the permission in both', async () => {
    const here = String(((await shown())['references'] as Body)['full']).split('#')[0];
    await expectRefusal(`/move ${here}`, 'Cannot move issue to project it originates from');
    await expectRefusal(`/move ${targetPath}`, 'it was not found', issue, cast.guest);
    await service.seed.member(cast.guest, target, 'planner');
    await expectRefusal(`/move ${targetPath}`, 'Cannot move issue due to insufficient permissions', issue, cast.guest);
    const { body } = await say(`/move ${targetPath}\n/move ${targetPath}`).expect(202);
    expect((body as { summary: string[] }).summary[0]).toMatch(
      /^Moved this issue to far\/away#\d+\. Could not apply \/move: one text moves or clones an issue once\.$/,
    );
    await expectRefusal(`/move ${targetPath}`, 'Cannot move issue due to insufficient permissions');
  });

  test('stores the note if the move is refused', async () => {
    const { body } = await say('Stay.\n/move far/nowhere').expect(201);
    expect(body).toMatchObject({ body: 'Stay.', commands_changes: {} });
    expect(await shown()).toMatchObject({ state: 'opened', user_notes_count: 1 });
  });
});

describe('/clone', () => {
  const clonesIn = async (of: DirectoryProject): Promise<Issue> =>
    ((await as('owner').get(`/api/v4/projects/${of.id}/issues`).query({ per_page: 1 })).body as Issue[])[0]!;

  test('creates a copy in either project, with notes on request', async () => {
    const { body } = await say(`Twice.\n/clone ${targetPath}`).expect(201);
    expect(body).toMatchObject({
      noteable_id: issue.id,
      commands_changes: { target_clone_project: targetPath, clone_with_notes: false },
    });
    const there = await clonesIn(target);
    expect(there).toMatchObject({ title: issue['title'], user_notes_count: 0, author: { id: cast.planner.id } });
    expect(await shown()).toMatchObject({ state: 'opened', moved_to_id: null });
    const { body: answer } = await say('/clone --with_notes').expect(202);
    const here = await clonesIn(project);
    expect(answer).toMatchObject({
      summary: [expect.stringMatching(new RegExp(`^Cloned this issue to .*#${here.iid}\\.$`))],
    });
    expect(here).toMatchObject({ user_notes_count: 1 });
    expect(await notesOf(here)).toEqual(['Twice.', expect.stringMatching(/^cloned to /), `cloned from #${issue.iid}`]);
  });

  test('is refused without the permission in both', async () => {
    await expectRefusal('/clone', 'Cannot clone issue due to insufficient permissions', issue, cast.guest);
    await expectRefusal('/clone far/nowhere', 'it was not found');
    await expectRefusal('/clone what is this', 'it names no project');
  });
});

test('the description of a new issue neither moves, clones nor closes it', async () => {
  for (const command of [`/move ${targetPath}`, '/clone', `/duplicate #${issue.iid}`]) {
    const { body } = await as('planner')
      .post(`/api/v4/projects/${project.id}/issues`)
      .send({ title: 'New', description: `Words\n${command}` })
      .expect(201);
    expect(body).toMatchObject({ description: 'Words', state: 'opened', moved_to_id: null });
  }
});

test('two concurrent duplicates of each other are both executed', async () => {
  const other = (await anIssue()) as Issue;
  const answers = await Promise.all([say(`/duplicate #${other.iid}`), say(`/duplicate #${issue.iid}`, other)]);
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
  expect(await shown()).toMatchObject({ state: 'closed' });
  expect(await shown(other)).toMatchObject({ state: 'closed' });
});
