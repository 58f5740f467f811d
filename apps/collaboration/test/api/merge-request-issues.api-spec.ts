import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { ROLES, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';

type ShownIds = { readonly id: number; readonly iid: number };

let service: SeededService;
let scene: MergeRequestScene;
let on: MergeActions;
let project: DirectoryProject;
let cast: Cast;
let fullPath: string;
/** A private project of another group; the developer is a member of both. */
let secret: DirectoryProject;
let secretPath: string;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  on = await MergeActions.in(service, scene);
  ({ project, cast, fullPath } = on.place);
  const elsewhere = await service.seed.group();
  secret = await service.seed.project({ namespace_id: elsewhere.id, visibility: 'private' });
  secretPath = `${elsewhere.full_path}/${secret.path}`;
  await service.seed.member(cast.developer, secret, 'developer');
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

const anIssue = async (fields: Record<string, unknown> = {}, of: DirectoryProject = project): Promise<ShownIds> => {
  const sent = { title: 'Work', ...fields };
  return (await on.as('developer').post(`/api/v4/projects/${of.id}/issues`).send(sent).expect(201)).body as ShownIds;
};
const edit = (iid: number, fields: Record<string, unknown>) => on.as('developer').put(on.path(iid)).send(fields);
const list = async (path: string, who: keyof Cast | SeededUser = 'developer'): Promise<number[]> =>
  ((await on.as(who).get(path).expect(200)).body as ShownIds[]).map(({ id }) => id);
const closes = (iid: number, who?: keyof Cast) => list(`${on.path(iid)}/closes_issues`, who);
const related = (iid: number, who?: keyof Cast) => list(`${on.path(iid)}/related_issues`, who);
const issuePath = (iid: number): string => `/api/v4/projects/${project.id}/issues/${iid}`;
const closedBy = (iid: number, who?: keyof Cast) => list(`${issuePath(iid)}/closed_by`, who);
const relatedRequests = (iid: number, who?: keyof Cast) => list(`${issuePath(iid)}/related_merge_requests`, who);

describe('closes_issues', () => {
  test('lists issues that title, description and commits close, and not those that they mention', async () => {
    const [a, b, c, d, e] = await Promise.all(Array.from({ length: 5 }, () => anIssue()));
    const description = `Closes #${b!.iid} and ${fullPath.toUpperCase()}#${c!.iid}, see #${d!.iid}\n\n\`closes #${d!.iid}\``;
    const { iid } = await on.open({ title: `Fix #${a!.iid}`, description }, [`Work\n\nResolves: #${e!.iid}`]);
    expect(await closes(iid)).toEqual([a, b, c, e].map((one) => one!.id).sort((x, y) => x - y));
  });

  test.each<[string, (issue: ShownIds) => string]>([
    ['a project of the same group', ({ iid }) => `${project.path}#${iid}`],
    ['the URL of an issue', ({ iid }) => `http://localhost:8080/${fullPath}/-/issues/${iid}`],
    ['the old URL of an issue', ({ iid }) => `http://localhost:8080/${fullPath}/issues/${iid}`],
    ['the URL of a work item', ({ iid }) => `http://localhost:8080/${fullPath}/-/work_items/${iid}`],
  ])('finds an issue by %s', async (_, reference) => {
    const issue = await anIssue();
    const { iid } = await on.open({ description: `closes ${reference(issue)}` });
    expect(await closes(iid)).toEqual([issue.id]);
  });

  test('answers whole issues; the reference of another project is its full path', async () => {
    const here = await anIssue();
    const there = await anIssue({}, secret);
    const { iid } = await on.open({ description: `closes #${here.iid}, ${secretPath}#${there.iid}` });
    const { body } = await on
      .as('developer')
      .get(`${on.path(iid)}/closes_issues`)
      .expect(200);
    expect(body).toMatchObject([
      { id: here.id, state: 'opened', references: { relative: `#${here.iid}`, full: `${fullPath}#${here.iid}` } },
      { id: there.id, project_id: secret.id, references: { relative: `${secretPath}#${there.iid}` } },
    ]);
  });

  test('follows edits of the text and pushes', async () => {
    const [a, b, c] = await Promise.all([anIssue(), anIssue(), anIssue()]);
    const { iid, source } = await on.open({ description: `closes #${a.iid}` });
    await edit(iid, { description: `closes #${b.iid}` }).expect(200);
    expect(await closes(iid)).toEqual([b.id]);
    await scene.push(on.place, source, [`Fixes #${c.iid}`]);
    expect(await closes(iid)).toEqual([b.id, c.id].sort((x, y) => x - y));
    await edit(iid, { description: null }).expect(200);
    expect(await closes(iid)).toEqual([c.id]);
    await scene.branch(on.place, source, ['Nothing']);
    expect(await closes(iid)).toEqual([]);
  });

  test('is empty while the target is not the default branch', async () => {
    const issue = await anIssue();
    await scene.branch(on.place, 'stable', []);
    await scene.git.ok(on.place.folder, 'push', '--quiet', 'origin', 'stable');
    const { iid } = await on.open({ description: `closes #${issue.iid}`, target_branch: 'stable' });
    expect(await closes(iid)).toEqual([]);
    expect(await closedBy(issue.iid)).toEqual([]);
    await edit(iid, { target_branch: 'main' }).expect(200);
    expect(await closes(iid)).toEqual([issue.id]);
    expect(await closedBy(issue.iid)).toHaveLength(1);
  });

  test('ignores missing issues, and loses deleted ones', async () => {
    const issue = await anIssue();
    const { iid } = await on.open({ description: `closes #${issue.iid}, #99999, no/such#1 and ${project.path}x#1` });
    expect(await closes(iid)).toEqual([issue.id]);
    await on.as('owner').delete(issuePath(issue.iid)).expect(204);
    expect(await closes(iid)).toEqual([]);
  });

  test.each<[keyof Cast | null, boolean, boolean]>([
    ['admin', true, true],
    ['owner', true, false],
    ['planner', true, false],
    ['developer', true, true],
    ['guest', false, false],
    ['stranger', false, false],
    ['external', false, false],
    [null, false, false],
  ])('%s sees a confidential issue: %s, one of a private project: %s', async (who, seesConfidential, seesSecret) => {
    const [open, confidential, hidden] = [
      await anIssue(),
      await anIssue({ confidential: true }),
      await anIssue({}, secret),
    ];
    const description = `closes #${open.iid}, #${confidential.iid}, ${secretPath}#${hidden.iid}`;
    const { iid } = await on.open({ description });
    const expected = [open.id, ...(seesConfidential ? [confidential.id] : []), ...(seesSecret ? [hidden.id] : [])];
    for (const name of ['closes_issues', 'related_issues']) {
      const app = who === null ? service.app.as(service.seed.anonymous()) : on.as(who);
      const { body, headers } = await app.get(`${on.path(iid)}/${name}`).expect(200);
      expect((body as ShownIds[]).map(({ id }) => id)).toEqual(expected);
      expect(headers['x-total']).toBe(String(expected.length));
    }
  });
});

describe('the message of a merge commit', () => {
  const messageOf = async (iid: number, who: keyof Cast, here = on): Promise<string> => {
    const { body } = await here.merge(iid, {}, who).expect(200);
    return (await here.commit((body as { merge_commit_sha: string }).merge_commit_sha)).message;
  };

  test('names the open issues that the merging user closes, those of other projects only if everybody may read them', async () => {
    const start = (source: string): string => `Merge branch '${source}' into 'main'\n\nA change\n\n`;
    const end = (iid: number): string => `\n\nSee merge request ${fullPath}!${iid}`;
    const group = await service.seed.group();
    const open = await service.seed.project({ namespace_id: group.id, visibility: 'public' });
    await service.seed.member(cast.developer, open, 'developer');
    const openPath = `${group.full_path}/${open.path}`;
    const [a, b, closed] = [await anIssue(), await anIssue({ confidential: true }), await anIssue()];
    const [hidden, shown, confidential] = [
      await anIssue({}, secret),
      await anIssue({}, open),
      await anIssue({ confidential: true }, open),
    ];
    await on.as('developer').put(issuePath(closed.iid)).send({ state_event: 'close' }).expect(200);
    const elsewhere = `${secretPath}#${hidden.iid}, ${openPath}#${shown.iid}, ${openPath}#${confidential.iid}`;
    const one = await on.open({ description: `closes #${b.iid}, #${closed.iid}, ${elsewhere} and #${a.iid}` });
    expect(await messageOf(one.iid, 'developer')).toBe(
      `${start(one.source)}Closes #${a.iid}, #${b.iid} and ${openPath}#${shown.iid}${end(one.iid)}`,
    );

    const again = await anIssue({}, open);
    const two = await on.open({ description: `closes ${openPath}#${again.iid}` });
    expect(await messageOf(two.iid, 'owner')).not.toContain('Closes');
  });

  test('names none of another target branch, and of a project that closes no issues', async () => {
    const issue = await anIssue();
    await scene.branch(on.place, 'unstable', []);
    const { iid } = await on.open({ description: `closes #${issue.iid}`, target_branch: 'unstable' });
    expect(await messageOf(iid, 'developer')).not.toContain('Closes');
    const other = await MergeActions.in(service, scene, { autoclose_referenced_issues: false });
    const sent = { title: 'Work' };
    const kept = await other.as('developer').post(`/api/v4/projects/${other.place.project.id}/issues`).send(sent);
    const request = await other.open({ description: `closes #${(kept.body as ShownIds).iid}` });
    expect(await messageOf(request.iid, 'developer', other)).not.toContain('Closes');
  });
});

describe('closed_by', () => {
  test('lists merge requests that close the issue, of all projects that the caller sees', async () => {
    const issue = await anIssue();
    const first = await on.open({ description: `closes #${issue.iid}` });
    await on.open({ description: `see #${issue.iid}` });
    const other = await MergeActions.in(service, scene, null, { visibility: 'private' });
    const reference = `${fullPath}#${issue.iid}`;
    const second = await other.open({ description: `closes ${reference}` });
    expect(await closedBy(issue.iid)).toEqual([first.id]);
    expect(await closedBy(issue.iid, 'admin')).toEqual([first.id, second.id]);
    const { body } = await on
      .as('admin')
      .get(`${issuePath(issue.iid)}/closed_by`)
      .expect(200);
    expect(body).toMatchObject([
      { id: first.id, references: { relative: `!${first.iid}` } },
      { id: second.id, references: { relative: `${other.place.fullPath}!${second.iid}` } },
    ]);
  });

  test('has as many merge requests as the issue counts, for the caller', async () => {
    const issue = await anIssue();
    const twice = `closes #${issue.iid}, closes #${issue.iid}`;
    await on.open({ title: `Fixes #${issue.iid}`, description: twice }, [`Fixes #${issue.iid}`]);
    const { iid } = await on.open({ description: twice });
    await on.open({ description: `see #${issue.iid}` });
    await on.merge(iid).expect(200);
    const hidden = await MergeActions.in(service, scene, null, { visibility: 'private' });
    await hidden.open({ description: `closes ${fullPath}#${issue.iid}` });
    const members = await MergeActions.in(service, scene, null, { merge_requests_access_level: 'private' });
    await members.open({ description: `closes ${fullPath}#${issue.iid}` });
    const expected: [keyof Cast | null, number][] = [
      ['admin', 4],
      ['developer', 2],
      ['guest', 2],
      ['stranger', 2],
      [null, 2],
    ];
    for (const [who, count] of expected) {
      const app = who === null ? service.app.as(service.seed.anonymous()) : on.as(who);
      const { body: shown } = await app.get(issuePath(issue.iid)).expect(200);
      const { body: listed } = await app
        .get(`/api/v4/projects/${project.id}/issues`)
        .query({ 'iids[]': issue.iid })
        .expect(200);
      expect([who, shown.merge_requests_count, listed[0].merge_requests_count]).toEqual([who, count, count]);
    }
  });

  test('keeps a merged request', async () => {
    const issue = await anIssue();
    const { id, iid } = await on.open({ description: `closes #${issue.iid}` });
    await on.merge(iid).expect(200);
    expect(await closedBy(issue.iid)).toEqual([id]);
    expect(await closes(iid)).toEqual([issue.id]);
  });
});

describe('related_issues and related_merge_requests', () => {
  test('include mentions in text and commits', async () => {
    const [a, b, c] = await Promise.all([anIssue(), anIssue(), anIssue()]);
    const { id, iid } = await on.open({ title: `For #${a.iid}`, description: `closes #${b.iid}` }, [`See #${c.iid}`]);
    expect(await related(iid)).toEqual([a.id, b.id, c.id].sort((x, y) => x - y));
    for (const issue of [a, b, c]) expect(await relatedRequests(issue.iid)).toEqual([id]);
  });

  test('show an issue whatever its state', async () => {
    const issue = await anIssue();
    const { iid } = await on.open({ title: `For #${issue.iid}` });
    await on.as('developer').put(issuePath(issue.iid)).send({ state_event: 'close' }).expect(200);
    expect(await related(iid)).toEqual([issue.id]);
  });
});

describe('the routes', () => {
  const REQUEST = ['closes_issues', 'related_issues'] as const;
  const ISSUE = ['closed_by', 'related_merge_requests'] as const;

  test.each(REQUEST)('%s is 404 for an unknown merge request and by id', async (name) => {
    const { id } = await on.open();
    for (const wrong of [id + 100_000, 999_999])
      await on
        .as('developer')
        .get(`${on.path(wrong)}/${name}`)
        .expect(404, { message: '404 Not found' });
    await on
      .as('developer')
      .get(`/api/v4/projects/${secret.id}/merge_requests/1/${name}`)
      .expect(404, { message: '404 Not found' });
  });

  test.each(ISSUE)('%s is 404 for an unknown and for a hidden issue', async (name) => {
    const hidden = await anIssue({ confidential: true });
    const missing = { message: '404 Issue Not Found' };
    await on
      .as('developer')
      .get(`${issuePath(999_999)}/${name}`)
      .expect(404, missing);
    await on
      .as('stranger')
      .get(`${issuePath(hidden.iid)}/${name}`)
      .expect(404, missing);
  });

  test.each([...REQUEST, ...ISSUE])(
    '%s takes the encoded path of the project, and a malformed number is 400',
    async (name) => {
      const issue = await anIssue();
      const { iid } = await on.open({ title: `closes #${issue.iid}` });
      const isOfIssue = (ISSUE as readonly string[]).includes(name);
      const [kind, parameter, number] = isOfIssue
        ? ['issues', 'issue_iid', issue.iid]
        : ['merge_requests', 'merge_request_iid', iid];
      const below = `/api/v4/projects/${encodeURIComponent(fullPath)}/${kind}`;
      expect(await list(`${below}/${number}/${name}`)).toHaveLength(1);
      await on
        .as('developer')
        .get(`${below}/x/${name}`)
        .expect(400, { error: `${parameter} is invalid` });
    },
  );

  test.each([...REQUEST, ...ISSUE])('%s is paged', async (name) => {
    const issues = await Promise.all([anIssue(), anIssue(), anIssue()]);
    const title = `closes ${issues.map(({ iid }) => `#${iid}`).join(', ')}`;
    const requests = [await on.open({ title }), await on.open({ title }), await on.open({ title })];
    const isOfIssue = (ISSUE as readonly string[]).includes(name);
    const path = isOfIssue ? `${issuePath(issues[0]!.iid)}/${name}` : `${on.path(requests[0]!.iid)}/${name}`;
    const expected = (isOfIssue ? requests : issues).map(({ id }) => id).sort((x, y) => x - y);
    const { body, headers } = await on.as('developer').get(`${path}?per_page=2&page=2`).expect(200);
    expect((body as ShownIds[]).map(({ id }) => id)).toEqual(expected.slice(2));
    expect(headers).toMatchObject({ 'x-total': '3', 'x-total-pages': '2', 'x-page': '2', 'x-prev-page': '1' });
  });

  test.each(ROLES)('%s of a private project reads merge requests by the right to read code', async (role) => {
    const closed = await MergeActions.in(service, scene, null, { visibility: 'private' });
    const { iid } = await closed.open();
    const status = role === 'guest' || role === 'planner' ? 403 : 200;
    for (const name of REQUEST)
      await closed
        .as(role)
        .get(`${closed.path(iid)}/${name}`)
        .expect(status);
  });
});
