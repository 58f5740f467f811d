import { awardEmojiCreated } from '@rookery/contracts';
import type { DirectoryProject } from '@rookery/contracts';
import { Forbidden, NotFound } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { QuickActionsService } from '../../src/talk/mentions/quick-actions/quick-actions.service';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

/** Effects of quick actions in the worker. */
let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let worker: Worker;
let project: DirectoryProject;
let cast: Cast;

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  smtp = await startMailServer();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env: { SMTP_URL: smtp.url } });
  project = await service.seed.project();
  cast = await castOf(service.seed, project);
});
afterAll(async () => {
  await worker.stop();
  await smtp.stop();
  await nats.drop();
  await service.close();
});

const { by, anIssue } = issueActions(() => ({ service, project, cast }));
async function waitUntilMailsAreSent(): Promise<void> {
  await worker.drained();
  const queued = () => service.database.query(`select 1 from mails where state = 'queued' limit 1`);
  await until(async () => (await queued()).length === 0, 'an empty queue');
}
const todosOf = async (user: SeededUser): Promise<string[]> => {
  const { body } = await by(user).get('/api/v4/todos').expect(200);
  return (body as { action_name: string }[]).map((todo) => todo.action_name);
};
const feedOf = async (user: SeededUser): Promise<string[]> => {
  const { body } = await by(user).get('/api/v4/events').expect(200);
  return (body as { action_name: string }[]).map((event) => event.action_name);
};

test('e-mails and feeds show a note without its commands, and the commands like their requests', async () => {
  const issue = await anIssue();
  await waitUntilMailsAreSent();
  smtp.mails.length = 0;
  const body = `Enough of this.\n/assign @${cast.guest.username}\n/todo\n/close`;
  await by(cast.planner).post(`/api/v4/projects/${project.id}/issues/${issue.iid}/notes`).send({ body }).expect(201);
  await waitUntilMailsAreSent();
  const mailed = (user: SeededUser) =>
    smtp.mails.filter((mail) => mail.to === user.notification_email).map((mail) => mail.parsed.text ?? '');
  expect(mailed(cast.owner).some((text) => text.includes('Enough of this.'))).toBe(true);
  expect(mailed(cast.owner).some((text) => text.includes('closed issue'))).toBe(true);
  expect(smtp.mails.map((mail) => mail.parsed.text).join()).not.toMatch(/\/(assign|todo|close)\b/);
  expect(mailed(cast.guest)).not.toEqual([]);
  // A user in a command is assigned, and not mentioned as well.
  expect(await todosOf(cast.guest)).toEqual(['assigned']);
  // The effects of the commands stay when the note is deleted.
  expect(await todosOf(cast.planner)).toEqual(['marked']);
  expect((await feedOf(cast.planner)).sort()).toEqual(['closed', 'commented on']);
  await by(cast.planner)
    .post(`/api/v4/projects/${project.id}/issues/${issue.iid}/notes`)
    .send({ body: 'Done with it.' })
    .expect(201);
  await waitUntilMailsAreSent();
  expect(await todosOf(cast.planner)).toEqual([]);
});

test('commands without text cause no comment in feeds and e-mails', async () => {
  const issue = await anIssue({}, cast.reporter);
  await waitUntilMailsAreSent();
  smtp.mails.length = 0;
  const path = `/api/v4/projects/${project.id}/issues/${issue.iid}/notes`;
  await by(cast.maintainer).post(path).send({ body: '/award heart\n/due tomorrow\n/subscribe' }).expect(202);
  await waitUntilMailsAreSent();
  expect(smtp.mails).toEqual([]);
  expect(await feedOf(cast.maintainer)).toEqual([]);
  await by(cast.maintainer).post(path).send({ body: '/close' }).expect(202);
  await waitUntilMailsAreSent();
  expect(smtp.recipients()).toEqual([cast.reporter.username]);
  expect(await feedOf(cast.maintainer)).toEqual(['closed']);
  const { body: counted } = await by(cast.owner).get(`/api/v4/projects/${project.id}/issues?state=closed`).expect(200);
  expect((counted as { iid: number }[]).map(({ iid }) => iid)).toContain(issue.iid);
});

test('a command name is declared once', () => {
  const actions = service.app.get(QuickActionsService);
  const set = { names: ['close'], supportsKind: () => true, plan: () => () => Promise.resolve([]) };
  expect(() => actions.declareSet(set)).toThrow('two wings declare the quick action close');
});

describe('a transaction step that may fail individually', () => {
  const label =
    'insert into labels (title, project_id, description_html, color, text_color) values ($1, $2, $3, $4, $5)';
  const row = (title: string) => [title, project.id, '', '#ff0000', '#FFFFFF'];
  const results = (id: number) =>
    awardEmojiCreated.of({
      aggregateId: id,
      actorId: cast.owner.id,
      data: {
        award_emoji_id: id,
        noteable_type: 'Issue',
        noteable_id: id,
        note_id: null,
        project_id: project.id,
        group_id: null,
        author_id: cast.owner.id,
        created_at: new Date().toISOString(),
      },
    });
  const titles = async () =>
    (
      await service.database.query<{ title: string }>('select title from labels where project_id = $1 order by id', [
        project.id,
      ])
    ).map(({ title }) => title);

  test('is rolled back completely when it is refused', async () => {
    const after: string[] = [];
    await service.app.get(Work).run(async (tx) => {
      await tx.query(label, row('first'));
      const step = tx.attempt(async () => {
        await tx.query(label, row('second'));
        tx.afterCommit(() => after.push('second'));
        tx.emit(results(9001));
        await expect(
          tx.attempt(async () => {
            await tx.query(label, row('third'));
            throw new NotFound();
          }),
        ).rejects.toThrow(NotFound);
        await tx.attempt(() => tx.query(label, row('fourth')));
        throw new Forbidden();
      });
      await expect(step).rejects.toThrow(Forbidden);
      tx.afterCommit(() => after.push('last'));
      tx.emit(results(9002));
      await tx.attempt(() => tx.query(label, row('fifth')));
    });
    expect(await titles()).toEqual(['first', 'fifth']);
    expect(after).toEqual(['last']);
    const written = await eventsOf(service.database, 'collaboration.award_emoji.created.v1');
    expect(written.map((event) => event['noteable_id']).filter((id) => id === 9001 || id === 9002)).toEqual([9002]);
  });

  test('aborts the transaction when the database refuses it', async () => {
    const run = service.app.get(Work).run(async (tx) => {
      await tx.query(label, row('sixth'));
      await tx.attempt(() => tx.query(label, row('first'))).catch(() => undefined);
      await tx.query(label, row('seventh'));
    });
    await expect(run).rejects.toThrow();
    expect(await titles()).toEqual(['first', 'fifth']);
  });
});
