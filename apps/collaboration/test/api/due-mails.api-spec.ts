import type { DirectoryProject } from '@rookery/contracts';
import { until } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { DueIssueMailsJob } from '../../src/following/notifications/due-mails/due-mails.job';
import { startCollaboration } from '../support/app';
import { mailbox, names } from '../support/mailbox';

/** E-mails about issues that are due tomorrow. Source: reference work-tracking 8.4. */
let service: SeededService;
let project: DirectoryProject;
let author: SeededUser;
const box = mailbox(() => service);
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
const query = <R = object>(sql: string, values: readonly unknown[] = []) => service.database.query<R>(sql, values);

beforeAll(async () => {
  service = await startCollaboration();
  await box.start();
});
afterAll(async () => {
  await box.stop();
  await service.close();
});
beforeEach(async () => {
  project = await service.seed.project();
  author = await member();
  await query('delete from issues');
  await box.clear();
});

async function member(level: string | null = null, switches: object = {}, role: 'guest' | 'reporter' = 'reporter') {
  const user = await service.seed.user();
  await service.seed.member(user, project, role);
  if (level !== null) {
    await query(
      `insert into notification_settings (user_id, source_type, source_id, level, switches) values ($1, 'project', $2, $3, $4)`,
      [user.id, project.id, level, JSON.stringify(switches)],
    );
  }
  return user;
}
const as = (user: SeededUser) => service.app.as(service.seed.viewer(user));
const issuePath = (iid?: number) => `/api/v4/projects/${project.id}/issues${iid === undefined ? '' : `/${iid}`}`;
async function issue(fields: object = {}): Promise<{ id: number; iid: number }> {
  const sent = { title: 'Hatch', due_date: tomorrow(), ...fields };
  const { body } = await as(author).post(issuePath()).send(sent).expect(201);
  await box.clear();
  return body as { id: number; iid: number };
}
const runDueMailsJob = () => service.app.get(DueIssueMailsJob).run();
async function addParticipant(user: SeededUser, { id }: { id: number }): Promise<void> {
  await query(
    `insert into participants (noteable_type, noteable_id, user_id, project_id) values ('Issue', $1, $2, $3)`,
    [id, user.id, project.id],
  );
}

test('go to participants, assignees, subscribers and users with the switch, once for a day', async () => {
  const [assignee, commenter, subscriber, switched] = [
    await member(),
    await member(),
    await member(),
    await member('custom', { issue_due: true }),
  ];
  const [watcher, other] = [await member('watch'), await member('custom', { new_note: true })];
  const [mention, disabled] = [await member('mention'), await member('disabled')];
  const made = await issue({ assignee_ids: [assignee.id] });
  for (const one of [commenter, mention, disabled]) await addParticipant(one, made);
  await as(subscriber)
    .post(`${issuePath(made.iid)}/subscribe`)
    .expect(201);
  await runDueMailsJob();
  const expected = names(author, assignee, commenter, subscriber, switched);
  expect(await box.recipients()).toEqual(expected);
  expect(box.mailTo(watcher) ?? box.mailTo(other)).toBeUndefined();
  const { parsed } = box.mailTo(switched);
  expect(parsed.text).toContain(`Issue #${made.iid} is due on ${tomorrow()}: Hatch`);
  expect(parsed.subject).toBe(`Re: ${project.name} | Hatch (#${made.iid})`);
  expect(parsed.inReplyTo).toBe(`<issue_${made.id}@localhost>`);
  await runDueMailsJob();
  expect(await box.recipients()).toEqual(expected);
});

test('are not about closed issues, other days and archived projects', async () => {
  const closed = await issue();
  await as(author).put(issuePath(closed.iid)).send({ state_event: 'close' }).expect(200);
  for (const due_date of [null, new Date().toISOString().slice(0, 10)]) await issue({ due_date });
  const other = await service.seed.project({ archived: true });
  await query(`insert into issues (project_id, iid, author_id, title, due_on) values ($1, 1, $2, 'Archived', $3)`, [
    other.id,
    author.id,
    tomorrow(),
  ]);
  await box.clear();
  await runDueMailsJob();
  expect(await box.recipients()).toEqual([]);
});

test('about confidential issues are for those who may read them', async () => {
  const guest = await member(null, {}, 'guest');
  const switched = await member('custom', { issue_due: true }, 'guest');
  const made = await issue({ confidential: true });
  await addParticipant(guest, made);
  await runDueMailsJob();
  expect(await box.recipients()).toEqual(names(author));
  expect(switched).toBeDefined();
});

test('are dropped if the issue was closed or has another day before they are sent', async () => {
  const made = [await issue(), await issue(), await issue()] as const;
  await box.sendAfterChange(runDueMailsJob, async () => {
    await query(`update issues set state = 'closed', closed_at = now() where id = $1`, [made[0].id]);
    await query(`update issues set due_on = due_on + 1 where id = $1`, [made[1].id]);
  });
  await box.delivered();
  expect(box.mails().map(({ parsed }) => parsed.headers.get('x-platform-issue-id'))).toEqual([String(made[2].id)]);
});

test('cover more issues than one transaction queues', async () => {
  await query(
    `insert into issues (project_id, iid, author_id, title, due_on)
     select $1, g, $2, 'Issue', $3 from generate_series(1, 230) g`,
    [project.id, author.id, tomorrow()],
  );
  await box.restart({ MAILER_ENABLED: 'off' });
  await runDueMailsJob();
  await until(async () => {
    const [row] = await query<{ count: number }>(
      'select count(distinct noteable_id)::int as count from mails where state = $1',
      ['queued'],
    );
    return row!.count === 230;
  }, 'all e-mails');
  await query('delete from mails');
});
