import { noteCreated } from '@rookery/contracts';
import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import { until } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { NotificationsConsumer } from '../../src/following/notifications/notifications.consumer';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { header, mailbox, names } from '../support/mailbox';

let service: SeededService;
let group: DirectoryNamespace;
let project: DirectoryProject;
let cast: Cast;
const box = mailbox(() => service);
const { delivered, clear, mailTo, mails, restart, recipients } = box;

beforeAll(async () => {
  service = await startCollaboration();
  await box.start();
});
afterAll(async () => {
  await box.stop();
  await service.close();
});
const useProject = async (over: Partial<DirectoryProject> = {}): Promise<void> => {
  group = await service.seed.group();
  project = await service.seed.project({ namespace_id: group.id, ...over });
  cast = await castOf(service.seed, project);
};
beforeEach(async () => {
  await clear();
  await useProject();
});

const { by, anIssue, comment, edit } = issueActions(() => ({ service, project, cast }));
const mentionOf = (user: SeededUser) => `@${user.username}`;

describe('e-mails are sent', () => {
  test('for a new issue: to assignees and mentioned users, not to the actor', async () => {
    await anIssue({
      assignee_ids: [cast.guest.id, cast.owner.id],
      description: `x ${mentionOf(cast.guest)} ${mentionOf(cast.reporter)} ${mentionOf(cast.owner)}`,
    });
    expect(await recipients()).toEqual(names(cast.guest, cast.reporter));
    expect(header(mailTo(cast.guest), 'x-platform-notificationreason')).toBe('assigned');
    expect(header(mailTo(cast.reporter), 'x-platform-notificationreason')).toBe('mentioned');
  });

  test('for a comment: to the author, assignees, commenters and mentioned users', async () => {
    const issue = await anIssue({ assignee_ids: [cast.planner.id], description: mentionOf(cast.guest) });
    await comment(issue, `x ${mentionOf(cast.external)}`, cast.developer);
    await clear();
    await comment(issue, `y ${mentionOf(cast.stranger)}`, cast.reporter);
    expect(await recipients()).toEqual(
      names(cast.owner, cast.planner, cast.guest, cast.external, cast.developer, cast.stranger),
    );
    expect(header(mailTo(cast.planner), 'x-platform-notificationreason')).toBe('assigned');
    expect(header(mailTo(cast.stranger), 'x-platform-notificationreason')).toBe('mentioned');
    expect(header(mailTo(cast.owner), 'x-platform-notificationreason')).toBeUndefined();
  });

  test('for a comment: not to users mentioned in texts that they cannot read', async () => {
    const issue = await anIssue();
    await comment(
      issue,
      `${mentionOf(cast.guest)} ${mentionOf(cast.stranger)} ${mentionOf(cast.reporter)}`,
      cast.developer,
      {
        internal: true,
      },
    );
    await clear();
    await comment(issue, 'public');
    expect(await recipients()).toEqual(names(cast.developer, cast.reporter));
    await comment(issue, `now publicly ${mentionOf(cast.guest)}`);
    await clear();
    await comment(issue, 'public');
    expect(await recipients()).toEqual(names(cast.developer, cast.guest, cast.reporter));
  });

  test('for a move: to participants, once, who also participate in the copy', async () => {
    const issue = await anIssue({ assignee_ids: [cast.reporter.id] });
    await comment(issue, `x ${mentionOf(cast.stranger)}`, cast.developer);
    const there = await service.seed.project({ visibility: 'private' });
    for (const name of ['owner', 'developer'] as const) await service.seed.member(cast[name], there, name);
    await clear();
    const move = { to_project_id: there.id };
    const { body } = await by(cast.owner)
      .post(`/api/v4/projects/${project.id}/issues/${issue.iid}/move`)
      .send(move)
      .expect(201);
    expect(await recipients()).toEqual(names(cast.reporter, cast.developer, cast.stranger));
    const subject = `${project.name} | An issue (#${issue.iid})`;
    expect(mailTo(cast.developer).parsed.subject).toBe(`Re: ${subject}`);
    expect(mailTo(cast.developer).parsed.text).toContain(`moved issue #${issue.iid} to another project: An issue`);
    await clear();
    const moved = `/api/v4/projects/${there.id}/issues/${(body as { iid: number }).iid}`;
    await by(cast.owner).post(`${moved}/notes`).send({ body: 'goes on' }).expect(201);
    expect(await recipients()).toEqual(names(cast.developer));
    await clear();
    await by(cast.owner).post(`${moved}/clone`).send({ to_project_id: there.id }).expect(201);
    expect(await recipients()).toEqual(names(cast.developer));
    expect(mailTo(cast.developer).parsed.text).toContain(' cloned issue #');
  });

  test('for closing and reopening: to participants', async () => {
    const issue = await anIssue({ assignee_ids: [cast.guest.id] });
    await comment(issue, 'x', cast.reporter);
    await clear();
    await edit(issue, { state_event: 'close' });
    expect(await recipients()).toEqual(names(cast.guest, cast.reporter));
    await clear();
    await edit(issue, { state_event: 'reopen' }, cast.maintainer);
    expect(await recipients()).toEqual(names(cast.guest, cast.reporter, cast.owner));
  });

  test('for changed assignees: to old and new assignees and participants', async () => {
    const issue = await anIssue({ assignee_ids: [cast.guest.id] });
    await comment(issue, 'x', cast.reporter);
    await clear();
    await edit(issue, { assignee_ids: [cast.developer.id] });
    expect(await recipients()).toEqual(names(cast.guest, cast.developer, cast.reporter));
    expect(mailTo(cast.reporter).parsed.text).toContain(
      `(added ${mentionOf(cast.developer)}; removed ${mentionOf(cast.guest)})`,
    );
  });

  test('for a changed text: only to newly mentioned users; for an edited comment: to no user', async () => {
    const issue = await anIssue({ description: `x ${mentionOf(cast.guest)}` });
    await clear();
    await edit(issue, { description: `x ${mentionOf(cast.guest)} ${mentionOf(cast.reporter)}` });
    expect(await recipients()).toEqual(names(cast.reporter));
    const note = await comment(issue, 'x');
    await clear();
    await by(cast.owner)
      .put(`/api/v4/projects/${project.id}/issues/${issue.iid}/notes/${note.id}`)
      .send({ body: `y ${mentionOf(cast.developer)}` })
      .expect(200);
    expect(await recipients()).toEqual([]);
    await comment(issue, 'z');
    expect(await recipients()).toContain(cast.developer.username);
  });

  test('for a changed text: not again to members of mentioned groups and of the project', async () => {
    const [named, other] = [await service.seed.group(), await service.seed.group()];
    const [member, newMember] = [await service.seed.user(), await service.seed.user()];
    await service.seed.member(member, named, 'guest');
    await service.seed.member(newMember, other, 'guest');
    const issue = await anIssue({ description: `@${named.full_path} and @all` });
    expect(await recipients()).toEqual(expect.arrayContaining(names(member, cast.guest)));
    await clear();
    // Old e-mails are deleted; until then they prevent a second one about the same text.
    await service.database.query('delete from mails');
    const text = `@${named.full_path} and @all and ${mentionOf(cast.stranger)}`;
    await edit(issue, { description: text });
    expect(await recipients()).toEqual(names(cast.stranger));
    await clear();
    await edit(issue, { description: `${text} and @${other.full_path}` });
    expect(await recipients()).toEqual(names(newMember));
  });

  test('for a changed text: to members of a group that its previous author could not mention', async () => {
    const hidden = await service.seed.group({ visibility: 'private' });
    const member = await service.seed.user();
    for (const user of [member, cast.owner]) await service.seed.member(user, hidden, 'guest');
    const issue = await anIssue({ description: `@${hidden.full_path}` }, cast.guest);
    expect(await recipients()).toEqual([]);
    await edit(issue, { title: 'Another title' });
    expect(await recipients()).toEqual([]);
    await edit(issue, { description: `@${hidden.full_path}, see here` });
    expect(await recipients()).toEqual(names(member));
  });

  test('only to active users with an address, not to bots', async () => {
    const others = [
      await service.seed.user({ state: 'blocked' }),
      await service.seed.user({ kind: 'project_bot' }),
      await service.seed.user({ kind: 'ghost' }),
      await service.seed.user({ notification_email: null }),
    ];
    await anIssue({ description: [...others, cast.guest].map(mentionOf).join(' ') });
    expect(await recipients()).toEqual(names(cast.guest));
  });

  test('not if e-mails are disabled', async () => {
    await service.seed.put('namespaces', { ...group, emails_enabled: false });
    await anIssue({ description: mentionOf(cast.guest) });
    expect(await recipients()).toEqual([]);
    await service.seed.put('namespaces', group);
    await service.seed.put('projects', { ...project, emails_enabled: false });
    await anIssue({ description: mentionOf(cast.guest) });
    expect(await recipients()).toEqual([]);
  });

  test('not for mentions of a group with disabled mentions', async () => {
    const [named, member] = [await service.seed.group(), await service.seed.user()];
    await service.seed.member(member, named, 'guest');
    const issueOn = async (mentions_disabled: boolean | null): Promise<string[]> => {
      await clear();
      await service.seed.put('namespaces', { ...named, mentions_disabled });
      await anIssue({ description: `@${named.full_path} and ${mentionOf(cast.guest)}` });
      return recipients();
    };
    expect(await issueOn(true)).toEqual(names(cast.guest));
    expect(await issueOn(false)).toEqual(names(cast.guest, member));
    expect(await issueOn(null)).toEqual(names(cast.guest, member));
  });

  test('according to notification levels', async () => {
    const set = (user: SeededUser, level: string, type = 'global', id = 0) =>
      service.database.query(
        `insert into notification_settings (user_id, source_type, source_id, level) values ($1, $2, $3, $4)`,
        [user.id, type, id, level],
      );
    await set(cast.guest, 'disabled');
    await set(cast.planner, 'mention');
    await set(cast.reporter, 'disabled', 'namespace', group.id);
    await set(cast.reporter, 'participating', 'project', project.id);
    await set(cast.developer, 'disabled', 'namespace', group.id);
    await set(cast.developer, 'global', 'project', project.id);
    const all = [cast.guest, cast.planner, cast.reporter, cast.developer, cast.maintainer];
    const issue = await anIssue({ description: all.map(mentionOf).join(' ') });
    expect(await recipients()).toEqual(names(cast.planner, cast.reporter, cast.maintainer));
    await clear();
    await comment(issue, 'to all who take part');
    expect(await recipients()).toEqual(names(cast.reporter, cast.maintainer));
  });
});

describe('only readers', () => {
  const readers = {
    'a public issue': ['guest', 'planner', 'reporter', 'admin', 'stranger', 'external'],
    'a confidential issue': ['planner', 'reporter', 'admin'],
    'an internal note': ['reporter', 'admin'],
  } as const;
  test.each(Object.keys(readers) as (keyof typeof readers)[])('get e-mails about %s', async (kind) => {
    for (const visibility of ['public', 'internal', 'private'] as const) {
      await useProject({ visibility });
      const issue = await anIssue({ confidential: kind === 'a confidential issue' });
      await clear();
      const people = ['guest', 'planner', 'reporter', 'admin', 'stranger', 'external'] as const;
      const text = people.map((name) => mentionOf(cast[name])).join(' ');
      await comment(issue, `secret for ${text}`, cast.owner, { internal: kind === 'an internal note' });
      const outside = { public: [], internal: ['external'], private: ['external', 'stranger'] }[visibility] as string[];
      const expected = readers[kind].filter((name) => !outside.includes(name)).map((name) => cast[name]);
      expect([visibility, await recipients()]).toEqual([visibility, names(...expected)]);
    }
  });

  const changes: [string, (issue: { iid: number; id: number }, noteId: number) => Promise<unknown>][] = [
    [
      'lost the membership',
      () => service.database.query('delete from directory_memberships where user_id = $1', [cast.guest.id]),
    ],
    ['was blocked', () => service.seed.put('users', { ...cast.guest, state: 'blocked' })],
    ['lost the address', () => service.seed.put('users', { ...cast.guest, notification_email: null })],
    [
      'cannot read the confidential issue any more',
      (issue) => service.database.query('update issues set confidential = true where id = $1', [issue.id]),
    ],
    ['would get a deleted note', (_, noteId) => service.database.query('delete from notes where id = $1', [noteId])],
    [
      'disabled notifications',
      () =>
        service.database.query(
          `insert into notification_settings (user_id, source_type, level) values ($1, 'global', 'disabled')`,
          [cast.guest.id],
        ),
    ],
  ];
  test.each(changes)('are rechecked when it is sent: a user who %s gets none', async (_, change) => {
    await useProject({ visibility: 'private' });
    const issue = await anIssue();
    await box.sendAfterChange(
      () => comment(issue, `x ${mentionOf(cast.guest)}`),
      (note) => change(issue, note.id),
    );
    expect(await recipients()).toEqual([]);
    expect(await box.lastState(cast.guest)).toBe('dropped');
  });
});

describe('an e-mail', () => {
  test('has the subject, sender, thread and headers that clients filter by', async () => {
    const issue = await anIssue({
      title: 'Größe | "x"',
      description: `Hello ${mentionOf(cast.guest)}, **look** <b>here</b>\n\n![p](http://x/y.png)`,
    });
    await delivered();
    const { parsed, to } = mailTo(cast.guest);
    const path = `${group.full_path}/${project.path}`;
    expect(to).toBe(cast.guest.notification_email);
    expect(parsed.subject).toBe(`${project.name} | Größe | "x" (#${issue.iid})`);
    expect(parsed.from?.value).toEqual([
      { name: `${cast.owner.name} (@${cast.owner.username})`, address: 'rookery@localhost' },
    ]);
    expect(parsed.replyTo?.value).toEqual([{ name: path, address: 'noreply@localhost' }]);
    expect(parsed.messageId).toBe(`<issue_${issue.id}@localhost>`);
    expect(parsed.inReplyTo).toBeUndefined();
    expect(parsed.text).toContain(`Hello ${mentionOf(cast.guest)}, **look** <b>here</b>`);
    expect(parsed.text).toContain(`http://localhost:8080/${path}/-/issues/${issue.iid}`);
    expect(parsed.text).toContain('because you were mentioned');
    expect(parsed.html).toContain('<strong>look</strong> &lt;b&gt;here&lt;/b&gt;');
    expect(parsed.html).not.toMatch(/<img|<script/);
    const facts = {
      'x-platform-project': project.name,
      'x-platform-project-id': String(project.id),
      'x-platform-project-path': path,
      'x-platform-issue-id': String(issue.id),
      'x-platform-issue-iid': String(issue.iid),
      'x-platform-issue-state': 'opened',
      'x-platform-confidentialissue': 'false',
      'x-platform-notificationreason': 'mentioned',
      'auto-submitted': 'auto-generated',
      'x-auto-response-suppress': 'All',
    };
    for (const [name, value] of Object.entries(facts)) expect([name, parsed.headers.get(name)]).toEqual([name, value]);
    expect(mailTo(cast.guest).raw).toContain(`List-ID: ${path} <${project.path}.${group.path}.localhost>`);
    mails().length = 0;
    const note = await comment(issue, 'An answer');
    await delivered();
    const answer = mailTo(cast.guest);
    expect(answer.parsed.subject).toBe(`Re: ${project.name} | Größe | "x" (#${issue.iid})`);
    expect([answer.parsed.messageId, answer.parsed.inReplyTo, answer.parsed.references]).toEqual([
      expect.stringMatching(new RegExp(`^<note_${note.id}\\.[0-9a-f]{20}@localhost>$`)),
      `<issue_${issue.id}@localhost>`,
      `<issue_${issue.id}@localhost>`,
    ]);
    expect(header(answer, 'x-platform-note-id')).toBe(String(note.id));
    expect(answer.parsed.text).toContain(`/-/issues/${issue.iid}#note_${note.id}`);
    mails().length = 0;
    await edit(issue, { state_event: 'close' });
    await delivered();
    expect(mailTo(cast.guest).parsed.messageId).toMatch(/^<[0-9a-f]{40}@localhost>$/);
    expect(mailTo(cast.guest).parsed.references).toBe(`<issue_${issue.id}@localhost>`);
    expect(header(mailTo(cast.guest), 'x-platform-issue-state')).toBe('closed');
  });

  test('is queued and sent once, even if its event is redelivered', async () => {
    const issue = await anIssue();
    const note = await comment(issue, `x ${mentionOf(cast.guest)}`);
    await delivered();
    const [row] = await service.database.query<{ event_id: string; payload: never }>(
      'select event_id, payload from outbox where subject = $1 order by id desc limit 1',
      [noteCreated.subject],
    );
    const event = {
      id: row!.event_id,
      time: new Date().toISOString(),
      aggregateType: 'note',
      aggregateId: note.id,
      actorId: cast.owner.id,
      data: row!.payload,
    };
    for (let run = 0; run < 2; run++) {
      await box
        .worker()
        .get(Work)
        .run((tx) =>
          box
            .worker()
            .get(NotificationsConsumer)
            .noteCreated({ tx, events: [event] }),
        );
    }
    expect(await recipients()).toEqual(names(cast.guest));
    const rows = await service.database.query<{
      state: string;
      attempts: number;
      smtp_reply: string;
      message_id: string;
      sent_at: Date;
    }>('select * from mails where source_event_id = $1', [row!.event_id]);
    expect(rows).toMatchObject([
      {
        state: 'sent',
        attempts: 1,
        smtp_reply: expect.stringContaining('taken'),
        message_id: expect.stringMatching(new RegExp(`^<note_${note.id}\\.[0-9a-f]{20}@localhost>$`)),
      },
    ]);
    expect(rows[0]!.sent_at).toBeInstanceOf(Date);
  });

  test('is sent right after its queueing is committed, without waiting for a poll', async () => {
    const issue = await anIssue();
    await delivered();
    await restart({ MAILER_POLL_MS: '60000' });
    // The goal is 500 ms at p99. The bound is far below the poll interval, so it proves that no poll is needed.
    const delays: number[] = [];
    for (let i = 0; i < 20; i++) {
      mails().length = 0;
      const started = Date.now();
      await comment(issue, `x ${mentionOf(cast.guest)}`);
      await until(() => mails().length > 0, 'the mail', 30_000);
      delays.push(mails()[0]!.at - started);
    }
    delays.sort((a, b) => a - b);
    if (process.env['TEST_FIGURES']) console.log({ p50: delays[10], p95: delays[18], most: delays[19] });
    await restart();
  });

  test('cannot get additional headers or recipients from user texts', async () => {
    const evil = 'x\r\nBcc: victim@evil.example\r\n\r\n<p>\u0001 \u2028Cc: v@evil.example\u2029\u202e\u0085';
    const actor = await service.seed.user({ name: `${evil}" <v@evil.example>, ` });
    await service.seed.member(actor, project, 'owner');
    await service.seed.put('projects', { ...project, name: evil });
    const title = `x\r\nBcc: victim@evil.example\r\n\r\nBody \u2028 (${'y'.repeat(150)})`;
    await anIssue(
      {
        title,
        description: `.\r\n.\r\nRCPT TO:<v@evil.example>\r\n${mentionOf(cast.guest)}\r\n${'z'.repeat(300_000)}`,
      },
      actor,
    );
    await delivered();
    expect(await recipients()).toEqual(names(cast.guest));
    const { parsed, raw } = mailTo(cast.guest);
    const expected = [
      'from',
      'to',
      'reply-to',
      'subject',
      'message-id',
      'date',
      'mime-version',
      'content-type',
      'list',
      'auto-submitted',
      'x-auto-response-suppress',
      'x-platform-project',
      'x-platform-project-id',
      'x-platform-project-path',
      'x-platform-issue-id',
      'x-platform-issue-iid',
      'x-platform-issue-state',
      'x-platform-confidentialissue',
      'x-platform-notificationreason',
    ];
    expect([...parsed.headers.keys()].sort()).toEqual(expected.sort());
    expect([parsed.cc, parsed.bcc]).toEqual([undefined, undefined]);
    expect(parsed.from?.value).toHaveLength(1);
    expect(parsed.from?.value[0]?.address).toBe('rookery@localhost');
    expect(Buffer.byteLength(raw)).toBeLessThan(200_000);
  });
});

test('no e-mail is sent by a stale copy of the directory', async () => {
  await service.database.query(`update directory_state set refreshed_at = now() - interval '1 minute'`);
  await anIssue({ description: mentionOf(cast.guest) });
  await until(async () => box.worker().logs.some((line) => line['msg'] === 'an effect waits'), 'a waiting effect');
  expect(mails()).toEqual([]);
  await service.database.query(`update directory_state set refreshed_at = 'infinity'`);
  expect(await recipients()).toEqual(names(cast.guest));
});
