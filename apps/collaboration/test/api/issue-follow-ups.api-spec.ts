import type { SeededService } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { MergeActions } from '../support/merge-actions';
import { MergeRequestScene } from '../support/merge-request-scene';

/** Issues that follow up threads of merge requests. Source: docs/reference/work-tracking.md 9.1. */
interface Discussion {
  readonly id: string;
  readonly notes: readonly {
    readonly id: number;
    readonly body: string;
    readonly system: boolean;
    readonly resolved?: boolean;
  }[];
}
type Issue = { readonly iid: number; readonly description: string | null; readonly title: string };
type Role = Parameters<MergeActions['as']>[0];

let service: SeededService;
let scene: MergeRequestScene;
let on: MergeActions;
let serial = 0;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  on = await MergeActions.in(service, scene);
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

async function mergeRequest(): Promise<number> {
  const branch = `follow-${(serial += 1)}`;
  await scene.branch(on.place, branch);
  const sent = { source_branch: branch, target_branch: 'main', title: branch };
  return ((await on.as('developer').post(on.place.path).send(sent).expect(201)).body as { iid: number }).iid;
}
const start = async (iid: number, body: string, by: Role = 'reporter'): Promise<Discussion> =>
  (
    await on
      .as(by)
      .post(`${on.path(iid)}/discussions`)
      .send({ body })
      .expect(201)
  ).body as Discussion;
const threads = async (iid: number): Promise<Discussion[]> => {
  const { body } = await on
    .as('developer')
    .get(`${on.path(iid)}/discussions`)
    .expect(200);
  return (body as (Discussion & { individual_note: boolean })[]).filter((one) => !one.individual_note);
};
const issuesPath = (): string => `/api/v4/projects/${on.place.project.id}/issues`;
const postFollowUpIssue = (fields: Record<string, unknown>, by: Role = 'developer') =>
  on
    .as(by)
    .post(issuesPath())
    .send({ title: 'Later', ...fields });
const states = async (iid: number): Promise<(boolean | undefined)[]> =>
  (await threads(iid)).map(({ notes }) => notes[0]!.resolved);

test('all open threads become a task list, and are resolved in favour of the issue', async () => {
  const iid = await mergeRequest();
  const first = await start(iid, 'Why?\nTell me');
  const second = await start(iid, 'And this?');
  const reply = `${on.path(iid)}/discussions/${first.id}/notes`;
  await on.as('developer').post(reply).send({ body: 'Because' }).expect(201);
  const done = await start(iid, 'Done');
  await on
    .as('developer')
    .put(`${on.path(iid)}/discussions/${done.id}`)
    .send({ resolved: true })
    .expect(200);

  const { body, headers } = await postFollowUpIssue({ merge_request_to_resolve_discussions_of: iid }).expect(201);
  const issue = body as Issue;
  const { username } = on.place.cast.reporter;
  const linkOf = (of: Discussion): string => `${on.place.fullPath}/-/merge_requests/${iid}#note_${of.notes[0]!.id}`;
  const expected = [
    `The following discussions from !${iid} should be addressed:`,
    `- [ ] @${username} started a [discussion](${linkOf(first)}): (+1 comment)`,
    '    > Why?\n    > Tell me',
    `- [ ] @${username} started a [discussion](${linkOf(second)}):`,
    '    > And this?',
  ];
  expect(issue.description?.replaceAll(/\(https?:\/\/[^/]+\//g, '(')).toBe(expected.join('\n\n'));
  expect(headers['x-rookery-ignored']).toBeUndefined();
  expect(await states(iid)).toEqual([true, true, true]);
  const said = (await threads(iid)).map(({ notes }) => notes.filter((note) => note.system).map((note) => note.body));
  expect(said).toEqual([
    [`created #${issue.iid} to continue this discussion`],
    [`created #${issue.iid} to continue this discussion`],
    [],
  ]);
});

test('one thread, an own description and its quick actions', async () => {
  const iid = await mergeRequest();
  const [left, taken] = [await start(iid, 'Left'), await start(iid, 'Taken')];
  const fields = { description: 'Mine\n/title Renamed', discussion_to_resolve: taken.id };
  const { body } = await postFollowUpIssue({ merge_request_to_resolve_discussions_of: iid, ...fields }).expect(201);
  expect(body).toMatchObject({ description: 'Mine', title: 'Renamed' });
  expect((await threads(iid)).map(({ id, notes }) => [id, notes[0]!.resolved])).toEqual([
    [left.id, false],
    [taken.id, true],
  ]);
});

test('commands in a quoted comment are not run', async () => {
  const iid = await mergeRequest();
  await start(iid, 'See\n> /close\n```\n/close\n```\n/title Hijacked');
  const { body } = await postFollowUpIssue({ merge_request_to_resolve_discussions_of: iid }).expect(201);
  expect(body).toMatchObject({ title: 'Later', state: 'opened' });
});

test('a caller resolves only threads that they may resolve', async () => {
  const iid = await mergeRequest();
  await start(iid, 'Of the guest', 'guest');
  await start(iid, 'Of the reporter', 'reporter');
  await postFollowUpIssue({ merge_request_to_resolve_discussions_of: iid }, 'guest').expect(201);
  expect(await states(iid)).toEqual([true, false]);
});

test('internal threads stay where they are, and long notes are quoted in part', async () => {
  const iid = await mergeRequest();
  await start(iid, `${'x'.repeat(1000)}hidden`);
  const sent = { body: 'Between us', internal: true };
  await on
    .as('developer')
    .post(`${on.path(iid)}/discussions`)
    .send(sent)
    .expect(201);
  const { body } = await postFollowUpIssue({ merge_request_to_resolve_discussions_of: iid }).expect(201);
  const { description } = body as Issue;
  expect(description).toContain(`${'x'.repeat(1000)}…`);
  expect(description).not.toMatch(/hidden|Between us/);
  expect(await states(iid)).toEqual([true, false]);
});

test('nothing open: an issue as any other', async () => {
  const iid = await mergeRequest();
  const { body } = await postFollowUpIssue({ merge_request_to_resolve_discussions_of: iid }).expect(201);
  expect((body as Issue).description).toBeNull();
});

test('a thread without its merge request has no effect and is named', async () => {
  const { headers } = await postFollowUpIssue({ discussion_to_resolve: 'x' }).expect(201);
  expect(headers['x-rookery-ignored']).toBe('discussion_to_resolve');
});

test.each([
  ['no such merge request', () => ({ merge_request_to_resolve_discussions_of: 99_999 }), '404 Not found'],
  [
    'no such thread',
    async () => ({
      merge_request_to_resolve_discussions_of: await mergeRequest(),
      discussion_to_resolve: 'f'.repeat(40),
    }),
    '404 Discussion Not Found',
  ],
])('%s', async (_, fields, message) => {
  const count = async (): Promise<number> => ((await on.as('developer').get(issuesPath())).body as unknown[]).length;
  const before = await count();
  const { body } = await postFollowUpIssue(await fields()).expect(404);
  expect(body).toEqual({ message });
  expect(await count()).toBe(before);
});
