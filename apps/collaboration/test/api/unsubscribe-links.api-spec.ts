import type { DirectoryProject } from '@rookery/contracts';
import { anonymousViewer } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { mailbox, names } from '../support/mailbox';
import type { ReceivedMail } from '../support/mail-server';

let service: SeededService;
let project: DirectoryProject;
let cast: Cast;
const box = mailbox(() => service);
const { clear, delivered, mailTo, recipients } = box;
beforeAll(async () => {
  service = await startCollaboration();
  await box.start();
});
afterAll(async () => {
  await box.stop();
  await service.close();
});
beforeEach(async () => {
  await clear();
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
});
const { anIssue, by, comment } = issueActions(() => ({ service, project, cast }));
const mentionOf = (user: SeededUser) => `@${user.username}`;
const anonymous = () => service.app.as(anonymousViewer());

/** Returns the header as the recipient's mail program reads it. */
function unsubscribeUrlOf(mail: ReceivedMail): string {
  const list = mail.parsed.headers.get('list') as unknown as { unsubscribe: { url: string } };
  return list.unsubscribe.url;
}
const pathOfUrl = (url: string): string => url.slice('http://localhost:8080'.length);
async function createUnsubscribeLink(user: SeededUser): Promise<{ path: string; issue: { id: number; iid: number } }> {
  const issue = await anIssue({ description: mentionOf(user) });
  await delivered();
  const path = pathOfUrl(unsubscribeUrlOf(mailTo(user)));
  await clear();
  return { path, issue };
}
const listSubscriptionRows = (issue: { id: number }) =>
  service.database.query(
    `select user_id, project_id, subscribed from subscriptions where noteable_type = 'Issue' and noteable_id = $1`,
    [issue.id],
  );

test('each e-mail has the link of its recipient, in header and footer', async () => {
  await anIssue({ description: `${mentionOf(cast.guest)} ${mentionOf(cast.reporter)}` });
  await delivered();
  const [one, other] = [mailTo(cast.guest), mailTo(cast.reporter)];
  expect(unsubscribeUrlOf(one)).not.toBe(unsubscribeUrlOf(other));
  for (const mail of [one, other]) {
    const url = unsubscribeUrlOf(mail);
    expect(url).toMatch(/^http:\/\/localhost:8080\/-\/sent_notifications\/Issue\.\d+\.\d+\.[\w-]{43}\/unsubscribe$/);
    expect(mail.raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/im);
    expect(mail.parsed.text).toContain(`Unsubscribe from this issue, or see how to change your settings: ${url}`);
    expect(mail.parsed.html).toContain(`<a href="${url}">Unsubscribe from this issue`);
  }
});

test('one click ends all e-mails about the issue for this user, without a session', async () => {
  const { path, issue } = await createUnsubscribeLink(cast.guest);
  const clicked = await anonymous().post(path).type('form').send({ 'List-Unsubscribe': 'One-Click' });
  expect([clicked.status, clicked.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(await listSubscriptionRows(issue)).toEqual([
    { user_id: cast.guest.id, project_id: project.id, subscribed: false },
  ]);
  await comment(issue, 'x', cast.developer);
  expect(await recipients()).toEqual(names(cast.owner));
  await clear();
  await comment(issue, mentionOf(cast.guest), cast.developer);
  expect(await recipients()).toEqual(names(cast.guest, cast.owner));
});

test('the key alone decides whose subscription ends, and repeating it changes nothing', async () => {
  const { path, issue } = await createUnsubscribeLink(cast.guest);
  await by(cast.owner).post(path).expect(200);
  await anonymous().post(path).field('List-Unsubscribe', 'One-Click').expect(200);
  await anonymous().post(path).expect(200);
  expect(await listSubscriptionRows(issue)).toEqual([
    { user_id: cast.guest.id, project_id: project.id, subscribed: false },
  ]);
  // Subscribing again overrides the link.
  await by(cast.guest).post(`/api/v4/projects/${project.id}/issues/${issue.iid}/subscribe`).expect(201);
  await comment(issue, 'x', cast.developer);
  expect(await recipients()).toEqual(names(cast.guest, cast.owner));
});

test('opening the link changes nothing and shows a button, and no title', async () => {
  const { path, issue } = await createUnsubscribeLink(cast.guest);
  for (const accept of ['text/html', '*/*']) {
    const { status, text } = await anonymous().get(path).set('accept', accept);
    expect([status, text.includes('<form method="post" action="unsubscribe">')]).toEqual([200, true]);
    expect(text).toContain('<h1>Unsubscribe from this issue</h1>');
    expect(text).not.toContain('An issue');
    expect(text).not.toContain(cast.guest.username);
  }
  await anonymous().head(path).expect(200);
  expect(await listSubscriptionRows(issue)).toEqual([]);
  const { text } = await anonymous().post(path).set('accept', 'text/html').expect(200);
  expect(text).toContain('<h1>You are unsubscribed</h1>');
  expect(await listSubscriptionRows(issue)).toHaveLength(1);
});

test('an invalid link, and one of a deleted issue or user, is a page with 400', async () => {
  const { path, issue } = await createUnsubscribeLink(cast.guest);
  const forged = path.replace(`.${cast.guest.id}.`, `.${cast.owner.id}.`);
  for (const one of [forged, '/-/sent_notifications/x/unsubscribe', '/-/sent_notifications/%00/unsubscribe']) {
    for (const method of ['get', 'post'] as const) {
      const { status, text } = await anonymous()[method](one);
      expect([one, status, one.includes('%00') || text.includes('<h1>This link does not work</h1>')]).toEqual([
        one,
        400,
        true,
      ]);
    }
  }
  expect(await listSubscriptionRows(issue)).toEqual([]);
  await service.database.query('delete from issues where id = $1', [issue.id]);
  await anonymous().post(path).expect(400);
  const other = await createUnsubscribeLink(cast.reporter);
  await service.seed.remove('users', cast.reporter.id);
  await anonymous().get(other.path).expect(400);
  await anonymous().post(other.path).expect(400);
});

test('a watcher unsubscribes from one issue and not from the project', async () => {
  await by(cast.guest).put(`/api/v4/projects/${project.id}/notification_settings`).send({ level: 'watch' }).expect(200);
  const issue = await anIssue();
  await delivered();
  await anonymous()
    .post(pathOfUrl(unsubscribeUrlOf(mailTo(cast.guest))))
    .expect(200);
  await clear();
  await comment(issue, 'x');
  expect(await recipients()).toEqual([]);
  await anIssue();
  expect(await recipients()).toEqual(names(cast.guest));
});
