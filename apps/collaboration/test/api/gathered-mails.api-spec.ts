import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { until } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { epicPlaces } from '../support/epics';
import { issueActions } from '../support/issue-actions';
import { mailbox } from '../support/mailbox';

/** Several changes of an issue or epic in one e-mail, for a recipient whose allowance is used up. */
let service: SeededService;
let group: DirectoryNamespace;
let project: DirectoryProject;
let cast: Cast;
const places = epicPlaces(() => service);
const box = mailbox(() => service);

beforeAll(async () => {
  service = await startCollaboration();
  await box.start();
  // Only the first e-mail to each recipient is sent individually.
  await box.restart({
    MAILER_PER_RECIPIENT_BURST_COUNT: '1',
    MAILER_PER_RECIPIENT_PER_MINUTE_COUNT: '1',
    MAILER_POLL_MS: '20',
  });
});
afterAll(async () => {
  await box.stop();
  await service.close();
});
beforeEach(async () => {
  group = await places.group({ visibility: 'private' });
  project = await service.seed.project({ namespace_id: group.id, visibility: 'private' });
  cast = await castOf(service.seed, group);
});
const query = <R>(sql: string, values: readonly unknown[] = []) => service.database.query<R>(sql, values);
const { anIssue, comment, edit } = issueActions(() => ({ service, project, cast }));
const mentionOf = (user: SeededUser) => `@${user.username}`;
const mailsTo = (user: SeededUser) =>
  box
    .mails()
    .filter((mail) => mail.to === user.notification_email)
    .map((mail) => mail.parsed);

/** Waits until the allowance is used up and all queued e-mails are postponed. */
async function waitUntilMailsAreGathered(): Promise<void> {
  await box.worker().drained();
  await until(async () => {
    const due = `state = 'queued' and (next_attempt_at <= now() or claim is not null)`;
    return (await query(`select 1 from mails where ${due} limit 1`)).length === 0;
  }, 'all sent or put off');
}
/** Makes the postponed e-mails due. */
async function sendPostponedMails(): Promise<void> {
  await waitUntilMailsAreGathered();
  box.mails().length = 0;
  await query(`update mails set next_attempt_at = now(), allowed_at = now() where state = 'queued'`);
  await box.delivered();
}

test('contains notes and changes of others, and not those of the recipient', async () => {
  const issue = await anIssue({ description: `${mentionOf(cast.guest)} ${mentionOf(cast.reporter)}` });
  await waitUntilMailsAreGathered();
  await comment(issue, 'one', cast.developer);
  await comment(issue, 'of their own', cast.guest);
  await comment(issue, 'two', cast.maintainer);
  await comment(issue, 'secret', cast.maintainer, { internal: true });
  await edit(issue, { state_event: 'close' }, cast.developer);
  await sendPostponedMails();
  const [guest, none] = mailsTo(cast.guest);
  expect(none).toBeUndefined();
  expect(guest!.text).toContain(`3 messages about issue #${issue.iid}: An issue`);
  expect(guest!.text).toContain(
    `By ${cast.developer.name} (${mentionOf(cast.developer)}): 2, ${cast.maintainer.name} (${mentionOf(cast.maintainer)}): 1.`,
  );
  expect(guest!.text).not.toMatch(/of their own|secret/);
  expect([guest!.inReplyTo, guest!.references]).toEqual([
    `<issue_${issue.id}@localhost>`,
    `<issue_${issue.id}@localhost>`,
  ]);
  const [reporter] = mailsTo(cast.reporter);
  expect(reporter!.text).toContain('5 messages');
  expect(reporter!.text).toContain('secret');
});

test('for an epic uses the wording of epics', async () => {
  const epic = await places.open(places.who(cast.owner), group, { description: mentionOf(cast.guest) });
  await waitUntilMailsAreGathered();
  for (const body of ['one', 'two'])
    await places
      .as(places.who(cast.developer))
      .post(`${places.pathOf(group)}/${epic.id}/notes`)
      .send({ body })
      .expect(201);
  await sendPostponedMails();
  const [mail] = mailsTo(cast.guest);
  expect(mail!.subject).toBe(`Re: ${group.name} | A goal (&${epic.iid})`);
  expect(mail!.text).toContain(`2 messages about epic &${epic.iid}: A goal`);
  expect(mail!.references).toBe(`<epic_${epic.id}@localhost>`);
  expect(mail!.headers.get('x-platform-epic-id')).toBe(String(epic.id));
});

test('is not sent to recipients who can no longer read the issue', async () => {
  const issue = await anIssue({ description: `${mentionOf(cast.guest)} ${mentionOf(cast.reporter)}` });
  await waitUntilMailsAreGathered();
  for (const text of ['one', 'two', 'three']) await comment(issue, text, cast.developer);
  await waitUntilMailsAreGathered();
  await edit(issue, { confidential: true });
  await sendPostponedMails();
  expect(mailsTo(cast.guest)).toEqual([]);
  expect(mailsTo(cast.reporter)[0]!.text).toContain('3 messages');
  expect(await box.lastState(cast.guest)).toBe('dropped');
});
