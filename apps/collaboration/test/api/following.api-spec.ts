import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { registerListPagingTests, startNats, until, registerVisibilityTests } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let worker: Worker;
let group: DirectoryNamespace;
let project: DirectoryProject;
let cast: Cast;
let issue: { id: number; iid: number };

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  smtp = await startMailServer();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env: { SMTP_URL: smtp.url } });
  group = await service.seed.group();
  project = await service.seed.project({ namespace_id: group.id });
  cast = await castOf(service.seed, project);
});
afterAll(async () => {
  await worker.stop();
  await smtp.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => void (issue = await anIssue()));

const { by, anIssue, comment } = issueActions(() => ({ service, project, cast }));
const as = (name: keyof Cast) => by(cast[name]);
const anonymous = () => service.app.as(service.seed.anonymous());
const at = (tail = ''): string => `/api/v4/projects/${project.id}/issues/${issue.iid}${tail}`;
const subscribe = (name: keyof Cast) => as(name).post(at('/subscribe'));
const unsubscribe = (name: keyof Cast) => as(name).post(at('/unsubscribe'));
const isSubscribed = async (name: keyof Cast): Promise<boolean> =>
  ((await as(name).get(at()).expect(200)).body as { subscribed: boolean }).subscribed;
const statusAndBody = async (
  request: PromiseLike<{ status: number; body: unknown; text?: string }>,
): Promise<unknown[]> => {
  const { status, body } = await request;
  return [status, body];
};
const recipients = async (): Promise<string[]> => {
  await worker.drained();
  await until(async () => {
    const rows = await service.database.query(`select 1 from mails where state = 'queued' limit 1`);
    return rows.length === 0;
  }, 'an empty queue');
  return smtp.recipients();
};
const clear = async (): Promise<void> => {
  await recipients();
  smtp.mails.length = 0;
};
const names = (...people: SeededUser[]): string[] => people.map((one) => one.username).sort();

describe('a subscription', () => {
  test('and its removal answer the issue, and 304 if nothing changes', async () => {
    expect(await isSubscribed('guest')).toBe(false);
    const followed = await subscribe('guest').send({}).expect(201);
    expect(followed.body).toEqual({ ...(await as('guest').get(at())).body, subscribed: true });
    const again = await subscribe('guest').expect(304);
    expect(again.text).toBe('');
    expect(await isSubscribed('guest')).toBe(true);
    expect((await unsubscribe('guest').expect(201)).body).toMatchObject({ id: issue.id, subscribed: false });
    await unsubscribe('guest').expect(304);
  });

  test('overrides participation', async () => {
    await subscribe('owner').expect(304);
    await unsubscribe('owner').expect(201);
    await comment(issue, 'Still here');
    expect(await isSubscribed('owner')).toBe(false);
    await subscribe('owner').expect(201);
    expect(await isSubscribed('owner')).toBe(true);
  });

  test('is stored once when requested many times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => subscribe('guest')));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(304)]);
  });

  test('to a label sends an e-mail about its addition, and a mention e-mail to users mentioned in the same change', async () => {
    const label = await as('reporter')
      .post(`/api/v4/projects/${project.id}/labels`)
      .send({ name: 'warm', color: '#f00' });
    const { id } = label.body as { id: number };
    await as('guest').post(`/api/v4/projects/${project.id}/labels/${id}/subscribe`).expect(201);
    await clear();
    const change = { add_labels: 'warm', description: `for @${cast.planner.username} to read` };
    await as('reporter').put(at()).send(change).expect(200);
    expect(await recipients()).toEqual(names(cast.guest, cast.planner));
    const textTo = (one: SeededUser): string =>
      smtp.mails.find(({ to }) => to === one.notification_email)!.parsed.text as string;
    expect(textTo(cast.guest)).toContain(`added the label "warm" to issue #${issue.iid}`);
    expect(textTo(cast.guest)).not.toContain('to read');
    expect(textTo(cast.planner)).toContain(`mentioned you in issue #${issue.iid}`);
    expect(textTo(cast.planner)).toContain('to read');
  });

  test('decides about e-mails', async () => {
    issue = await anIssue({ assignee_ids: [cast.developer.id], description: `@${cast.planner.username}` });
    await clear();
    await subscribe('guest').expect(201);
    for (const name of ['developer', 'planner', 'owner'] as const) await unsubscribe(name).expect(201);
    await comment(issue, 'To whom it may concern', cast.reporter);
    expect(await recipients()).toEqual(names(cast.guest));
    expect(smtp.mails[0]!.parsed.headers.get('x-platform-notificationreason')).toBe('subscribed');
    await clear();
    await comment(issue, `@${cast.developer.username}: you all the same`, cast.reporter);
    expect(await recipients()).toEqual(names(cast.developer, cast.guest));
    await clear();
    await as('reporter').put(at()).send({ state_event: 'close' }).expect(200);
    expect(await recipients()).toEqual(names(cast.guest));
  });

  test('causes e-mails at every notification level, but none about unreadable content', async () => {
    await service.database.query(
      `insert into notification_settings (user_id, source_type, level) values ($1, 'global', 'disabled')`,
      [cast.guest.id],
    );
    await clear();
    await subscribe('guest').expect(201);
    await comment(issue, 'internal', cast.reporter, { internal: true });
    expect(await recipients()).toEqual(names(cast.owner));
    await clear();
    await comment(issue, 'public', cast.reporter);
    expect(await recipients()).toEqual(names(cast.guest, cast.owner));
    await clear();
    await as('owner').put(at()).send({ confidential: true }).expect(200);
    await comment(issue, 'secret', cast.reporter);
    expect(await recipients()).toEqual(names(cast.owner));
    await service.database.query(`delete from notification_settings where user_id = $1`, [cast.guest.id]);
  });

  test('is deleted with the issue', async () => {
    await subscribe('guest').expect(201);
    await as('owner').delete(at()).expect(204);
    await worker.drained();
    expect(await service.database.query('select 1 from subscriptions where noteable_id = $1', [issue.id])).toEqual([]);
  });
});

describe('participants', () => {
  const people = async (name: keyof Cast | 'anonymous' = 'anonymous'): Promise<string[]> => {
    await worker.drained();
    const client = name === 'anonymous' ? anonymous() : as(name);
    const { body } = await client.get(at('/participants')).expect(200);
    return (body as { username: string }[]).map((one) => one.username).sort();
  };

  test('are the author, assignees, commenters and mentioned users', async () => {
    expect((await anonymous().get(at('/participants'))).body).toEqual([
      expect.objectContaining({ id: cast.owner.id, username: cast.owner.username, web_url: expect.any(String) }),
    ]);
    issue = await anIssue({ assignee_ids: [cast.developer.id], description: `@${cast.planner.username}` });
    await comment(issue, `@${cast.stranger.username}`, cast.guest);
    expect(await people()).toEqual(names(cast.owner, cast.developer, cast.planner, cast.guest, cast.stranger));
  });

  test('do not include the ghost and placeholders that are mentioned', async () => {
    const ghost = await service.seed.user({ kind: 'ghost' });
    const placeholder = await service.seed.user({ kind: 'placeholder' });
    issue = await anIssue({ description: `@${ghost.username} @${cast.planner.username}` });
    await comment(issue, `@${placeholder.username} @${cast.stranger.username}`, cast.guest);
    expect(await people()).toEqual(names(cast.owner, cast.planner, cast.guest, cast.stranger));
  });

  test('include a commenter at once', async () => {
    await comment(issue, 'Me too', cast.guest);
    const { body } = await as('guest').get(at('/participants')).expect(200);
    expect((body as { id: number }[]).map((one) => one.id)).toContain(cast.guest.id);
  });

  test('by internal notes only are shown to and counted for readers of these notes', async () => {
    await comment(issue, `@${cast.developer.username}`, cast.reporter, { internal: true });
    for (const name of ['anonymous', 'stranger', 'guest', 'planner'] as const) {
      expect([name, await people(name)]).toEqual([name, names(cast.owner)]);
      const client = name === 'anonymous' ? anonymous() : as(name);
      expect((await client.get(at('/participants'))).get('x-total')).toBe('1');
    }
    for (const name of ['reporter', 'developer', 'owner', 'admin'] as const) {
      expect([name, await people(name)]).toEqual([name, names(cast.owner, cast.reporter, cast.developer)]);
    }
    await comment(issue, 'Now for all', cast.reporter);
    expect(await people('guest')).toEqual(names(cast.owner, cast.reporter));
  });

  test('are hidden from others after they lose access', async () => {
    const hidden = await service.seed.project({ namespace_id: group.id, visibility: 'private' });
    const person = await service.seed.user();
    const membership = await service.seed.member(person, hidden, 'guest');
    await service.seed.member(cast.owner, hidden, 'owner');
    const issues = `/api/v4/projects/${hidden.id}/issues`;
    const { body: made } = await by(cast.owner).post(issues).send({ title: 'x' }).expect(201);
    const path = `${issues}/${made.iid}`;
    await by(person).post(`${path}/notes`).send({ body: 'x' }).expect(201);
    await worker.drained();
    expect((await by(cast.owner).get(`${path}/participants`)).body).toHaveLength(2);
    await service.seed.remove('memberships', membership.id);
    expect((await by(cast.owner).get(`${path}/participants`)).body).toHaveLength(1);
  });

  describe('as a list with pages', () => {
    let path: string;
    beforeAll(async () => {
      issue = await anIssue({
        assignee_ids: [cast.guest, cast.planner, cast.reporter, cast.developer, cast.maintainer].map((one) => one.id),
      });
      path = at('/participants');
    });
    registerListPagingTests(() => ({ app: service.app, viewer: service.seed.anonymous(), path, rows: 6 }));
  });

  registerVisibilityTests({
    app: () => service.app,
    from: async (level, standing) => {
      const there = await service.seed.project({ visibility: level });
      const path = `/api/v4/projects/${there.id}/issues`;
      const { body } = await as('admin').post(path).send({ title: 'x' }).expect(201);
      const viewer = async () => {
        if (standing === 'anonymous') return service.seed.anonymous();
        const user = await service.seed.user({ admin: standing === 'admin', external: standing === 'external' });
        if (!['admin', 'external', 'outsider'].includes(standing)) {
          await service.seed.member(user, there, standing as never);
        }
        return service.seed.viewer(user);
      };
      return { viewer: await viewer(), path: `${path}/${(body as { iid: number }).iid}/participants` };
    },
  });
});

describe('adding a to-do', () => {
  const mark = (name: keyof Cast) => as(name).post(at('/todo'));

  test('answers the to-do, and 304 while one is pending', async () => {
    const { body } = await mark('guest').send({}).expect(201);
    expect(body).toMatchObject({
      action_name: 'marked',
      target_type: 'Issue',
      target: { id: issue.id, subscribed: false },
      author: { id: cast.guest.id },
      project: { id: project.id },
      body: 'An issue',
      state: 'pending',
    });
    expect((await as('guest').get('/api/v4/todos').query({ action: 'marked' })).body).toEqual([
      expect.objectContaining({ id: body.id }),
    ]);
    expect((await mark('guest').expect(304)).text).toBe('');
    await as('guest').post(`/api/v4/todos/${body.id}/mark_as_done`).expect(201);
    await mark('guest').expect(201);
    await as('guest').post('/api/v4/todos/mark_as_done').expect(204);
  });

  test('is refused while a mention is pending', async () => {
    await comment(issue, `@${cast.planner.username}`);
    await worker.drained();
    await mark('planner').expect(304);
    await as('planner').post('/api/v4/todos/mark_as_done').expect(204);
    await mark('planner').expect(201);
  });

  test('creates one to-do when requested many times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => mark('stranger')));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(304)]);
    expect((await as('stranger').get('/api/v4/todos').query({ action: 'marked' })).body).toHaveLength(1);
  });

  test('is done by a comment', async () => {
    await mark('reporter').expect(201);
    await comment(issue, 'Done', cast.reporter);
    await worker.drained();
    expect((await as('reporter').get('/api/v4/todos').query({ action: 'marked' })).body).toEqual([]);
  });
});

describe('refusals', () => {
  const CALLS = ['/subscribe', '/unsubscribe', '/todo'];

  test('anonymous callers get 401', async () => {
    for (const call of CALLS) {
      expect(await statusAndBody(anonymous().post(at(call)))).toEqual([401, { message: '401 Unauthorized' }]);
    }
  });

  test('missing and confidential issues are 404', async () => {
    issue = await anIssue({ confidential: true });
    const notFound = [404, { message: '404 Issue Not Found' }];
    for (const name of ['stranger', 'guest'] as const) {
      for (const call of CALLS) expect(await statusAndBody(as(name).post(at(call)))).toEqual(notFound);
      expect(await statusAndBody(as(name).get(at('/participants')))).toEqual(notFound);
    }
    for (const name of ['planner', 'developer'] as const) {
      await as(name).post(at('/todo')).expect(201);
      await as(name).post(at('/subscribe')).expect(201);
      await as(name).get(at('/participants')).expect(200);
    }
    issue = { id: 0, iid: 999_999 };
    for (const call of CALLS) expect(await statusAndBody(as('owner').post(at(call)))).toEqual(notFound);
    expect(await statusAndBody(as('owner').get(at('/participants')))).toEqual(notFound);
    for (const iid of ['abc', '99999999999999999999', '%00']) {
      const odd = await as('owner').post(`/api/v4/projects/${project.id}/issues/${iid}/subscribe`);
      expect([400, 404]).toContain(odd.status);
    }
  });

  test('these routes are 404 in projects with hidden issues', async () => {
    const there = await service.seed.project({ visibility: 'private' });
    for (const call of CALLS) {
      const path = `/api/v4/projects/${there.id}/issues/1${call}`;
      expect(await statusAndBody(as('stranger').post(path))).toEqual([404, { message: '404 Project Not Found' }]);
      expect(await statusAndBody(as('admin').post(path))).toEqual([404, { message: '404 Issue Not Found' }]);
    }
  });
});
