import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';

type Role = keyof Cast;

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;

beforeAll(async () => {
  service = await startCollaboration();
  const group = await service.seed.group({ visibility: 'public' });
  project = await service.seed.project({ namespace_id: group.id, visibility: 'public' });
  cast = await castOf(service.seed, project);
});
afterAll(() => service.close());

const clientOfRole = (role: Role, of = cast) => service.app.as(service.seed.viewer(of[role]));
const issuesPath = (tail: string): string => `/api/v4/projects/${project.id}/issues${tail}`;
const readIgnoredHeader = (answer: { readonly headers: Record<string, string> }): string | undefined =>
  answer.headers['x-rookery-ignored'];
const PLANNED = { assignee_ids: [], labels: 'a', milestone_id: null, due_date: '2030-01-01', discussion_locked: true };
const PLANNED_NAMES = 'assignee_ids, labels, milestone_id, due_date, discussion_locked';

/** Parameters that have no effect for a role are named, as those that no route reads. */
describe('issues', () => {
  test.each([
    ['guest', `${PLANNED_NAMES}, weight, created_at`],
    ['planner', 'created_at'],
    ['developer', 'created_at'],
    ['owner', undefined],
    ['admin', undefined],
  ] as const)('created by the role %s', async (role, names) => {
    const fields = { title: 'T', confidential: false, ...PLANNED, weight: 1, created_at: '2020-01-01' };
    expect(readIgnoredHeader(await clientOfRole(role).post(issuesPath('')).send(fields).expect(201))).toBe(names);
    expect(
      readIgnoredHeader(await clientOfRole(role).post(issuesPath('')).send({ title: 'T' }).expect(201)),
    ).toBeUndefined();
  });

  test.each([
    ['guest', `assignee_ids, labels, milestone_id, due_date, discussion_locked, confidential, weight, updated_at`],
    ['reporter', 'updated_at'],
    ['owner', undefined],
  ] as const)('updated by their author in the role %s', async (role, names) => {
    const { body } = await clientOfRole(role).post(issuesPath('')).send({ title: 'T' }).expect(201);
    const { iid } = body as { readonly iid: number };
    const fields = { title: 'U', ...PLANNED, confidential: false, weight: null, updated_at: '2030-01-01' };
    expect(
      readIgnoredHeader(
        await clientOfRole(role)
          .put(issuesPath(`/${iid}`))
          .send(fields)
          .expect(200),
      ),
    ).toBe(names);
  });

  test('sent again with an idempotency key', async () => {
    const send = () =>
      clientOfRole('guest')
        .post(issuesPath(''))
        .set('Idempotency-Key', 'k'.repeat(20))
        .send({ title: 'T', labels: 'a' });
    expect(readIgnoredHeader(await send().expect(201))).toBe('labels');
    expect(readIgnoredHeader(await send().expect(201))).toBe('labels');
  });
});

test.each([
  ['developer', 'created_at'],
  ['owner', undefined],
] as const)('notes and threads written by the role %s', async (role, names) => {
  const { body } = await clientOfRole('owner').post(issuesPath('')).send({ title: 'T' }).expect(201);
  const { iid } = body as { readonly iid: number };
  const fields = { body: 'a note', internal: false, created_at: '2020-01-01' };
  expect(
    readIgnoredHeader(
      await clientOfRole(role)
        .post(issuesPath(`/${iid}/notes`))
        .send(fields)
        .expect(201),
    ),
  ).toBe(names);
  const thread = await clientOfRole(role)
    .post(issuesPath(`/${iid}/discussions`))
    .send(fields)
    .expect(201);
  expect(readIgnoredHeader(thread)).toBe(names);
  const replies = issuesPath(`/${iid}/discussions/${(thread.body as { id: string }).id}/notes`);
  expect(readIgnoredHeader(await clientOfRole(role).post(replies).send(fields).expect(201))).toBe(names);
});

test('merge requests updated by an author below the role of a reporter', async () => {
  const scene = await MergeRequestScene.start(service);
  try {
    const place = await scene.place();
    await scene.branch(place, 'topic');
    const sent = { source_branch: 'topic', target_branch: 'main', title: 'T', approvals_before_merge: 1 };
    const by = (role: Role) => clientOfRole(role, place.cast);
    const made = await by('developer').post(place.path).send(sent).expect(201);
    expect(readIgnoredHeader(made)).toBe('approvals_before_merge');
    const { iid } = made.body as { readonly iid: number };
    const fields = { title: 'U', labels: 'a', reviewer_ids: [] };
    const update = (role: Role) => by(role).put(`${place.path}/${iid}`).send(fields).expect(200);
    expect(readIgnoredHeader(await update('developer'))).toBeUndefined();
    // Its author was a developer when it was opened.
    const { id } = place.project;
    await service.database.query('update merge_requests set author_id = $1 where project_id = $2', [
      place.cast.guest.id,
      id,
    ]);
    expect(readIgnoredHeader(await update('guest'))).toBe('reviewer_ids, labels');
  } finally {
    await scene.stop();
  }
});
