import { mergeRequestEvents, NOTEABLE_STEPS } from '@rookery/contracts';
import type { DirectoryProject, NoteableStep } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { mailbox, names } from '../support/mailbox';
import { insertMergeRequestRow } from '../support/merge-request-rows';

/**
 * Rights that end between an event and its e-mail: e-mails about steps of merge requests and about milestones reach only
 * users who still have them. Source: reference work-tracking 8.3; ADR 0171.
 */
let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
let former: SeededUser;
let made: { readonly id: number; readonly iid: number };
const box = mailbox(() => service);

beforeAll(async () => {
  service = await startCollaboration();
  await box.start();
});
afterAll(async () => {
  await box.stop();
  await service.close();
});
beforeEach(async () => {
  await box.clear();
  project = await service.seed.project({ visibility: 'private' });
  cast = await castOf(service.seed, project);
  former = await service.seed.user();
  await service.seed.member(former, project, 'reporter');
  made = await insertMergeRequestRow(service, project, { author_id: cast.developer.id });
  await service.database.query(
    `insert into participants (noteable_type, noteable_id, user_id, project_id)
     select 'MergeRequest', $1, person, $2 from unnest($3::bigint[]) person`,
    [made.id, project.id, [former.id, cast.reporter.id]],
  );
});

const emitStep = (step: NoteableStep) =>
  service.app.get(Work).run(async (tx) => {
    const facts = { id: made.id, iid: made.iid, project_id: project.id, author_id: cast.developer.id };
    const users = step === 'conflicting' ? { userIds: [former.id, cast.reporter.id] } : {};
    const progress = { step, actorId: cast.owner.id, at: new Date(), ...users };
    tx.emit(mergeRequestEvents.progressedOf({ ...facts, created_at: new Date() }, progress));
  });
async function setMilestone(): Promise<void> {
  const app = service.app.as(service.seed.viewer(cast.maintainer));
  const path = `/api/v4/projects/${project.id}`;
  const { body } = await app.post(`${path}/milestones`).send({ title: 'A secret plan' }).expect(201);
  await app.put(`${path}/merge_requests/${made.iid}`).send({ milestone_id: body.id }).expect(200);
}
const CAUSES: [string, () => Promise<unknown>][] = [
  ...NOTEABLE_STEPS.map((step): [string, () => Promise<unknown>] => [step, () => emitStep(step)]),
  ['milestone', setMilestone],
];

test.each(CAUSES)('%s: not to a user who was removed from the project before it is sent', async (_, cause) => {
  await box.sendAfterChange(cause, () =>
    service.database.query('delete from directory_memberships where user_id = $1', [former.id]),
  );
  const got = await box.recipients();
  expect(got).toContain(cast.reporter.username);
  expect(got).not.toContain(former.username);
  expect(await box.lastState(former)).toBe('dropped');
});

const CHANGES: [string, () => Promise<unknown>][] = [
  ['was blocked', () => service.seed.put('users', { ...former, state: 'blocked' })],
  ['lost the address', () => service.seed.put('users', { ...former, notification_email: null })],
  [
    'unsubscribed',
    () =>
      service.app
        .as(service.seed.viewer(former))
        .post(`/api/v4/projects/${project.id}/merge_requests/${made.iid}/unsubscribe`)
        .expect(201),
  ],
  [
    'turned e-mail off',
    () =>
      service.app
        .as(service.seed.viewer(former))
        .put(`/api/v4/projects/${project.id}/notification_settings`)
        .send({ level: 'disabled' })
        .expect(200),
  ],
];
test.each(CHANGES)('a milestone: not to a user who %s before it is sent', async (_, change) => {
  await box.sendAfterChange(setMilestone, change);
  expect(await box.recipients()).toEqual(names(cast.developer, cast.reporter));
  expect(await box.lastState(former)).toBe('dropped');
});

test('no e-mail about a milestone that was deleted before it is sent', async () => {
  await box.sendAfterChange(setMilestone, async () => {
    const app = service.app.as(service.seed.viewer(cast.maintainer));
    const path = `/api/v4/projects/${project.id}/milestones`;
    const { body } = await app.get(path).expect(200);
    await app.delete(`${path}/${body[0].id}`).expect(204);
  });
  expect(await box.recipients()).toEqual([]);
});

test('no e-mail if the merge requests of the project were disabled before it is sent', async () => {
  await box.sendAfterChange(setMilestone, () =>
    service.seed.put('projects', { ...project, merge_requests_access_level: 'disabled' }),
  );
  expect(await box.recipients()).toEqual([]);
});
