import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { groupMoved, projectDeleted, projectMoved } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  startNats,
  until,
} from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { castOf, eventsOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

interface Issue {
  readonly id: number;
  readonly iid: number;
  readonly labels: readonly string[];
}
interface LabelEvent {
  readonly id: number;
  readonly action: string;
  readonly label: { readonly name: string } | null;
}

let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let worker: Worker;
let group: DirectoryNamespace;
let project: DirectoryProject;
let cast: Cast;

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  smtp = await startMailServer();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env: { SMTP_URL: smtp.url } });
});
afterAll(async () => {
  await worker.stop();
  await smtp.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  group = await service.seed.group();
  project = await service.seed.project({ namespace_id: group.id });
  cast = await castOf(service.seed, project);
});

const { by, anIssue, comment } = issueActions(() => ({ service, project, cast }));
const issues = () => `/api/v4/projects/${project.id}/issues`;
const made = async (fields: Record<string, unknown>, author?: SeededUser): Promise<Issue> =>
  (await anIssue(fields, author)) as Issue;
const put = async ({ iid }: Issue, fields: Record<string, unknown>, who = cast.owner): Promise<Issue> =>
  (await by(who).put(`${issues()}/${iid}`).send(fields).expect(200)).body as Issue;
const label = async (source: 'projects' | 'groups', id: number, fields: Record<string, unknown>) =>
  (await by(cast.admin).post(`/api/v4/${source}/${id}/labels`).send(fields).expect(201)).body as { id: number };
const listed = async (query: Record<string, unknown>, who = cast.owner): Promise<number[]> =>
  ((await by(who).get(issues()).query(query).expect(200)).body as Issue[]).map(({ iid }) => iid);
const changes = async ({ iid }: Issue): Promise<LabelEvent[]> =>
  (await by(cast.owner).get(`${issues()}/${iid}/resource_label_events`).expect(200)).body as LabelEvent[];
const names = async (who = cast.owner): Promise<string[]> =>
  (
    (await by(who).get(`/api/v4/projects/${project.id}/labels`).query({ per_page: 100 })).body as { name: string }[]
  ).map(({ name }) => name);
const queryRows = <R>(sql: string, ...values: unknown[]): Promise<R[]> => service.database.query<R>(sql, values);
async function waitUntilMailsAreSent(): Promise<void> {
  await worker.drained();
  await until(
    async () => (await queryRows(`select 1 from mails where state = 'queued' limit 1`)).length === 0,
    'the mails',
  );
}

describe('writing', () => {
  test('unknown names become project labels, existing labels of ancestor groups are used', async () => {
    await label('groups', group.id, { name: 'of the group' });
    const issue = await made({ labels: ' b, of the group,a ,b,' });
    expect(issue.labels).toEqual(['a', 'b', 'of the group']);
    const of = await queryRows(`select title, project_id is null as above from labels order by id desc limit 3`);
    expect(of).toEqual(
      expect.arrayContaining([
        { title: 'a', above: false },
        { title: 'of the group', above: true },
      ]),
    );
    expect((await by(cast.guest).get(`${issues()}/${issue.iid}`)).body).toMatchObject({ labels: issue.labels });
    const created = (await eventsOf(service.database, 'collaboration.issue.created.v1')).at(-1);
    expect(created!['label_ids']).toHaveLength(3);
  });

  test('replaces, adds and removes labels', async () => {
    const issue = await made({ labels: ['a', 'b,c'] });
    expect(issue.labels).toEqual(['a', 'b', 'c']);
    expect((await put(issue, { add_labels: 'd, a', remove_labels: 'b,none' })).labels).toEqual(['a', 'c', 'd']);
    expect((await put(issue, { add_labels: ['e'], remove_labels: ['e', 'd'] })).labels).toEqual(['a', 'c']);
    expect((await put(issue, { labels: ['z'], add_labels: 'y', remove_labels: 'z' })).labels).toEqual(['y']);
    expect((await put(issue, { labels: '' })).labels).toEqual([]);
    expect(await names()).toEqual(['a', 'b', 'c', 'd', 'y']);
    expect((await changes(issue)).map(({ action, label }) => `${action} ${label!.name}`)).toEqual([
      'add a',
      'add b',
      'add c',
      'add d',
      'remove b',
      'remove d',
      'add y',
      'remove a',
      'remove c',
      'remove y',
    ]);
  });

  test('changes updated_at and publishes one event', async () => {
    const issue = await made({ labels: 'a' });
    const before = (await eventsOf(service.database, 'collaboration.issue.updated.v1')).length;
    expect(await put(issue, { add_labels: 'a', remove_labels: 'x' })).toEqual(issue);
    const changed = await put(issue, { labels: 'b' });
    expect(changed).not.toMatchObject({ updated_at: (issue as unknown as Record<string, unknown>)['updated_at'] });
    const events = await eventsOf(service.database, 'collaboration.issue.updated.v1');
    expect(events).toHaveLength(before + 1);
    expect(events.at(-1)).toMatchObject({
      added_label_ids: [expect.any(Number)],
      removed_label_ids: [expect.any(Number)],
    });
  });

  test('is for planners, and ignored from others', async () => {
    const issue = await made({ labels: 'a', title: 'mine' }, cast.guest);
    expect(issue.labels).toEqual([]);
    expect((await put(issue, { add_labels: 'a', title: 'still mine' }, cast.guest)).labels).toEqual([]);
    expect(await names()).toEqual([]);
    expect((await put(issue, { add_labels: 'a' }, cast.planner)).labels).toEqual(['a']);
    expect((await by(cast.stranger).put(`${issues()}/${issue.iid}`).send({ add_labels: 'b' })).status).toBe(403);
  });

  test('refuses invalid names, and too many', async () => {
    const post = (labels: unknown) => by(cast.owner).post(issues()).send({ title: 'x', labels });
    expect((await post(['x'.repeat(256)]).expect(400)).body).toEqual({
      message: { labels: ['is too long (maximum is 255 characters)'] },
    });
    const many = (from: number, count: number) => Array.from({ length: count }, (_, i) => `l${from + i}`);
    expect((await post(many(0, 501)).expect(400)).body).toEqual({
      message: { labels: ['are too many (maximum is 500)'] },
    });
    expect((await post(many(0, 1001))).status).toBe(400);
    const issue = await made({ labels: many(0, 500) });
    expect(issue.labels).toHaveLength(500);
    const more = await by(cast.owner).put(`${issues()}/${issue.iid}`).send({ add_labels: 'more' });
    expect([more.status, more.body]).toEqual([400, { message: { labels: ['are too many (maximum is 500)'] } }]);
    expect((await put(issue, { add_labels: 'more', remove_labels: 'l0' })).labels).toHaveLength(500);
    const hostile = ['a,'.repeat(500_000), 'x'.repeat(1_000_000), `${'é'.repeat(300)},`.repeat(3000)];
    for (const text of hostile) {
      const started = process.cpuUsage();
      expect((await post(text)).status).toBe(400);
      // Takes a tenth of a second; comparing each name with all others would take minutes.
      expect(process.cpuUsage(started).user / 1000).toBeLessThan(10_000);
    }
  });

  test('fifty at once create one label per name, and iids without gaps', async () => {
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, i) => made({ labels: ['shared', `own ${i % 5}`, i % 2 ? 'b,a' : 'a,b'] })),
    );
    expect(all.map(({ iid }) => iid).sort((a, b) => a - b)).toEqual(all.map((_, i) => i + 1));
    expect(await names()).toEqual(['a', 'b', 'own 0', 'own 1', 'own 2', 'own 3', 'own 4', 'shared']);
    expect(all.every(({ labels }) => labels.length === 4)).toBe(true);
  });

  let encoded = 0;
  registerParameterEncodingTests({
    app: () => service.app,
    to: () => ({
      viewer: service.seed.viewer(cast.owner),
      method: 'POST',
      path: issues(),
      params: { title: `encoded ${++encoded}`, labels: ['two words', 'a & b'] },
    }),
    seen: ({ labels }) => labels,
    expected: ['a & b', 'two words'],
  });
});

describe('lists', () => {
  test('are filtered by labels', async () => {
    await label('groups', group.id, { name: 'c' });
    const own = [{ labels: 'a,b' }, { labels: 'a' }, {}, { labels: 'c' }, { labels: 'b', confidential: true }];
    for (const fields of own) await made(fields);
    for (const [query, expected] of [
      [{ labels: 'a' }, [2, 1]],
      [{ labels: 'a,b' }, [1]],
      [{ 'labels[]': ['b', 'a'] }, [1]],
      [{ labels: 'A' }, []],
      [{ labels: 'c' }, [4]],
      [{ labels: 'none' }, [3]],
      [{ labels: 'No Label' }, [3]],
      [{ labels: 'Any' }, [5, 4, 2, 1]],
      [{ labels: 'Any Label' }, [5, 4, 2, 1]],
      [{ 'not[labels]': 'any label' }, [3]],
      [{ labels: 'no such' }, []],
      [{ labels: '' }, [5, 4, 3, 2, 1]],
      [{ 'not[labels]': 'a' }, [5, 4, 3]],
      [{ 'not[labels]': 'a,b' }, [4, 3]],
      [{ 'not[labels][]': ['c', 'b'] }, [3, 2]],
      [{ 'not[labels]': 'Any' }, [3]],
      [{ labels: 'b', 'not[labels]': 'a' }, [5]],
    ] as const) {
      expect([query, await listed(query)]).toEqual([query, [...expected]]);
    }
    const many = Array.from({ length: 1000 }, (_, i) => (i === 0 ? 'a' : `x${i}`)).join();
    for (const [query, expected] of [
      [{ labels: many }, []],
      [{ 'not[labels]': many }, [5, 4, 3]],
      [{ labels: 'a,b,x,y,z' }, []],
    ] as const) {
      const started = performance.now();
      expect(await listed(query)).toEqual([...expected]);
      // One condition for all labels; a join for each would take PostgreSQL minutes to plan.
      expect(performance.now() - started).toBeLessThan(20_000);
    }
    await made({ labels: 'a,b,x,y,z' });
    expect(await listed({ labels: 'z,y,x,b,a' })).toEqual([6]);
    expect(await listed({ labels: 'b' }, cast.guest)).toEqual([6, 1]);
    expect(await listed({ labels: 'Any' }, cast.stranger)).toEqual([6, 4, 2, 1]);
    await made({ labels: 'a,b,x,y,w' });
    expect(await listed({ labels: 'z,y,x,b,a' })).toEqual([6]);
    expect(await listed({ labels: 'w,y,x,b,a,w' })).toEqual([7]);
    expect(await listed({ labels: 'w,y,x,b,a,no such' })).toEqual([]);
    expect(await listed({ labels: 'y,x,b,a' })).toEqual([7, 6]);
    // A group label and a project label with the same title are one name, even if an issue has both.
    const both = await made({ labels: 'a,b,x,w' });
    await service.database.query(
      `with namesake as (insert into labels (group_id, title, description_html, color, text_color)
         values ($1, 'w', '', '#fff', '#000') returning id)
       insert into label_links (noteable_type, noteable_id, label_id, project_id) select 'Issue', $2, id, $3 from namesake`,
      [project.namespace_id, both.id, project.id],
    );
    expect(await listed({ labels: 'w,y,x,b,a' })).toEqual([7]);
  });

  test('show label details on request', async () => {
    const { id } = await label('projects', project.id, { name: 'a', color: '#FF0000', description: '*x*' });
    const issue = await made({ labels: 'a' });
    const shown = (await by(cast.guest).get(issues()).query({ with_labels_details: 'True' })).body as unknown[];
    expect(shown).toMatchObject([
      {
        iid: issue.iid,
        labels: [
          {
            id,
            name: 'a',
            color: '#FF0000',
            text_color: '#FFFFFF',
            description: '*x*',
            description_html: '<em>x</em>',
          },
        ],
      },
    ]);
    expect((await by(cast.guest).get(issues())).body).toMatchObject([{ labels: ['a'] }]);
  });

  test('are ordered by label priority', async () => {
    await label('projects', project.id, { name: 'low', priority: 9 });
    await label('projects', project.id, { name: 'high', priority: 0 });
    for (const labels of ['', 'low', 'high,low', 'other']) await made({ labels });
    expect(await listed({ order_by: 'label_priority', sort: 'asc' })).toEqual([3, 2, 1, 4]);
    expect(await listed({ order_by: 'label_priority', sort: 'desc' })).toEqual([2, 3, 4, 1]);
  });

  test('of labels count readable issues', async () => {
    await label('groups', group.id, { name: 'shared' });
    const elsewhere = await service.seed.project({ namespace_id: group.id, visibility: 'private' });
    await made({ labels: 'shared' });
    const closed = await made({ labels: 'shared' });
    await put(closed, { state_event: 'close' });
    await made({ labels: 'shared', confidential: true });
    await made({ labels: 'shared', confidential: true, assignee_ids: [cast.guest.id] });
    await by(cast.admin)
      .post(`/api/v4/projects/${elsewhere.id}/issues`)
      .send({ title: 'x', labels: 'shared' })
      .expect(201);
    const counts = async (who: SeededUser, path: string) => {
      const { body } = await by(who).get(`/api/v4/${path}/labels`).query({ with_counts: true }).expect(200);
      const [{ open_issues_count: open, closed_issues_count: done, open_merge_requests_count: merging }] = body;
      return [open, done, merging];
    };
    const [here, above] = [`projects/${project.id}`, `groups/${group.id}`];
    expect(await counts(cast.planner, here)).toEqual([3, 1, 0]);
    expect(await counts(cast.guest, here)).toEqual([2, 1, 0]);
    expect(await counts(cast.stranger, here)).toEqual([1, 1, 0]);
    expect(await counts(cast.planner, above)).toEqual([3, 1, 0]);
    expect(await counts(cast.admin, above)).toEqual([4, 1, 0]);
    expect(await counts(cast.stranger, above)).toEqual([1, 1, 0]);
    await service.seed.put('projects', { ...project, issues_access_level: 'private' });
    expect(await counts(cast.stranger, above)).toEqual([0, 0, 0]);
    expect(await counts(cast.guest, above)).toEqual([2, 1, 0]);
  });
});

describe('label events', () => {
  test('are shown one by one', async () => {
    const issue = await made({ labels: 'a' });
    const [change] = await changes(issue);
    const whole = {
      id: expect.any(Number),
      user: expect.objectContaining({ id: cast.owner.id, username: cast.owner.username }),
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      resource_type: 'Issue',
      resource_id: issue.id,
      label: { id: expect.any(Number), name: 'a', color: '#6699cc', description: null },
      action: 'add',
    };
    expect(change).toEqual(whole);
    const path = `${issues()}/${issue.iid}/resource_label_events`;
    expect((await by(cast.guest).get(`${path}/${change!.id}`)).body).toEqual(whole);
    expect((await service.app.as(service.seed.anonymous()).get(path)).body).toEqual([whole]);
    expect((await by(cast.guest).get(`${path}/999999`)).body).toEqual({ message: '404 Not found' });
    expect((await by(cast.guest).get(`${issues()}/99/resource_label_events`)).body).toEqual({
      message: '404 Issue Not Found',
    });
    await by(cast.owner).delete(`/api/v4/projects/${project.id}/labels/a`).expect(204);
    expect(await changes(issue)).toMatchObject([{ id: change!.id, label: null, action: 'add' }]);
    expect((await by(cast.owner).get(`${issues()}/${issue.iid}`)).body).toMatchObject({ labels: [] });
  });

  test('are hidden with the issue', async () => {
    const issue = await made({ labels: 'a', confidential: true });
    const [change] = await changes(issue);
    for (const who of [cast.guest, cast.stranger, cast.external]) {
      for (const tail of ['', `/${change!.id}`]) {
        const hidden = await by(who).get(`${issues()}/${issue.iid}/resource_label_events${tail}`);
        expect([hidden.status, hidden.body]).toEqual([404, { message: '404 Issue Not Found' }]);
      }
    }
  });

  describe('as a list', () => {
    let at: { viewer: Viewer; path: string };
    let other: Issue;
    beforeEach(async () => {
      const issue = await made({ labels: 'a,b,c,d,e,f,g' });
      other = await made({ labels: 'a' });
      at = { viewer: service.seed.viewer(cast.guest), path: `${issues()}/${issue.iid}/resource_label_events` };
    });
    registerListPagingTests(() => ({ app: service.app, ...at, rows: 7 }));
    registerForeignParentTests({
      app: () => service.app,
      viewer: () => at.viewer,
      requests: async () => [{ method: 'GET', path: `${at.path}/${(await changes(other))[0]!.id}` }],
    });
  });
});

describe('effects', () => {
  test('label subscribers get e-mails for issues that get the label, and for no others', async () => {
    await label('groups', group.id, { name: 'news', description: 'x' });
    await label('projects', project.id, { name: 'other' });
    const follow = (who: SeededUser) =>
      by(who).post(`/api/v4/projects/${project.id}/labels/news/subscribe`).expect(201);
    for (const who of [cast.guest, cast.stranger, cast.owner]) await follow(who);
    await waitUntilMailsAreSent();
    smtp.mails.length = 0;
    const issue = await made({ labels: 'other', title: 'Quiet' });
    await put(issue, { add_labels: 'other' });
    await waitUntilMailsAreSent();
    expect(smtp.recipients()).toEqual([]);
    await put(issue, { add_labels: 'news' });
    await waitUntilMailsAreSent();
    expect(smtp.recipients()).toEqual([cast.guest.username, cast.stranger.username].sort());
    const mail = smtp.mails[0]!;
    expect(mail.parsed.text).toContain(`added the label "news" to issue #${issue.iid}`);
    expect(mail.parsed.headers.get('x-platform-notificationreason')).toBe('subscribed');
    smtp.mails.length = 0;
    await made({ labels: 'news', confidential: true });
    await waitUntilMailsAreSent();
    expect(smtp.recipients()).toEqual([]);
    await made({ labels: 'news', assignee_ids: [cast.guest.id] });
    await waitUntilMailsAreSent();
    expect(smtp.recipients()).toEqual([cast.guest.username, cast.stranger.username].sort());
    smtp.mails.length = 0;
    await put(issue, { labels: 'other', assignee_ids: [cast.guest.id] });
    await put(issue, { labels: 'news', assignee_ids: [cast.reporter.id] });
    await waitUntilMailsAreSent();
    const twice = smtp.mails.filter((one) => one.to === cast.guest.notification_email);
    expect(twice).toHaveLength(2);
  });

  test("a label change marks the actor's to-dos as done", async () => {
    const issue = await made({});
    await comment(issue, `@${cast.planner.username} and @${cast.reporter.username}`);
    await worker.drained();
    const waiting = async (who: SeededUser) => ((await by(who).get('/api/v4/todos')).body as unknown[]).length;
    expect([await waiting(cast.planner), await waiting(cast.reporter)]).toEqual([1, 1]);
    await put(issue, { labels: 'a' }, cast.planner);
    await worker.drained();
    expect([await waiting(cast.planner), await waiting(cast.reporter)]).toEqual([0, 1]);
  });

  test('labels of a former ancestor group become project labels', async () => {
    const top = await service.seed.group();
    const below = await service.seed.group({ parent: top });
    const moving = await service.seed.project({ namespace_id: below.id });
    const target = await service.seed.group();
    await label('groups', top.id, { name: 'from above', color: '#123456' });
    await label('groups', below.id, { name: 'from below' });
    await label('groups', target.id, { name: 'from below' });
    const issue = (
      await by(cast.admin)
        .post(`/api/v4/projects/${moving.id}/issues`)
        .send({ title: 'x', labels: 'from above,from below,own' })
        .expect(201)
    ).body as Issue;
    const shown = async () => {
      const { body } = await by(cast.admin).get(`/api/v4/projects/${moving.id}/labels`);
      const all = body as { name: string; is_project_label: boolean; color: string }[];
      return all.map(({ name, is_project_label: own, color }) => `${name} ${own} ${color}`);
    };
    await service.seed.put('projects', { ...moving, namespace_id: target.id });
    const data = { project_id: moving.id, namespace_id: target.id };
    await publish(nats, projectMoved.of({ aggregateId: moving.id, actorId: 1, data }));
    await until(async () => (await shown()).length === 3, 'the labels');
    expect(await shown()).toEqual(['from above true #123456', 'from below false #6699cc', 'own true #6699cc']);
    const { body } = await by(cast.admin).get(`/api/v4/projects/${moving.id}/issues/${issue.iid}`);
    expect(body).toMatchObject({ labels: ['from above', 'from below', 'own'] });
    expect(
      (await by(cast.admin).get(`/api/v4/projects/${moving.id}/issues`).query({ labels: 'from below' })).body,
    ).toHaveLength(1);

    await service.seed.put('namespaces', { ...target, parent_id: top.id, traversal_ids: [top.id, target.id] });
    await by(cast.admin).put(`/api/v4/projects/${moving.id}/issues/${issue.iid}`).send({ add_labels: 'late' });
    await label('groups', top.id, { name: 'also above' });
    await by(cast.admin).put(`/api/v4/projects/${moving.id}/issues/${issue.iid}`).send({ add_labels: 'also above' });
    await service.seed.put('namespaces', target);
    await publish(nats, groupMoved.of({ aggregateId: target.id, actorId: 1, data: { group_id: target.id } }));
    await until(async () => (await shown()).includes('also above true #6699cc'), 'the label');
  });

  test('events are deleted with the issue, project, group and user', async () => {
    await label('groups', group.id, { name: 'above' });
    const issue = await made({ labels: 'above,own' });
    const stays = await made({ labels: 'own' });
    await by(cast.owner).delete(`${issues()}/${issue.iid}`).expect(204);
    await worker.drained();
    const left = (table: string) =>
      queryRows<{ noteable_id: number }>(`select noteable_id from ${table} where project_id = $1`, project.id);
    expect(await left('label_links')).toEqual([{ noteable_id: stays.id }]);
    expect(await left('resource_label_events')).toEqual([{ noteable_id: stays.id }]);
    await service.database.query('delete from directory_projects where id = $1', [project.id]);
    const data = { project_id: project.id };
    await publish(nats, projectDeleted.of({ aggregateId: project.id, actorId: 1, data }));
    await until(
      async () => (await queryRows('select 1 from labels where project_id = $1', project.id)).length === 0,
      'it',
    );
    expect(await left('label_links')).toEqual([]);
    expect(await left('resource_label_events')).toEqual([]);
    expect(await queryRows('select title from labels where group_id = $1', group.id)).toEqual([{ title: 'above' }]);
  });
});
