import { randomUUID } from 'node:crypto';
import {
  accessRequestChanged,
  memberAdded,
  memberChanged,
  projectMoved,
  projectRenamed,
  releaseCreated,
} from '@rookery/contracts';
import type { DirectoryNamespace, DirectoryProject, DomainEvent } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { ProjectMailsJob } from '../../src/following/notifications/place-mails/project-mails.job';
import { ProjectOrGroupMailEnqueuer } from '../../src/following/notifications/place-mails/project-or-group-mail-enqueuer';
import { startCollaboration } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer, ReceivedMail } from '../support/mail-server';
import { names } from '../support/mailbox';
import { deleteOldRows } from '../support/old-rows';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

/** E-mails about projects, groups and memberships: trigger, receivers, contents. Source: reference work-tracking 8.4, 8.9. */
const AWAY = { SMTP_URL: 'smtp://127.0.0.1:9', MAILER_RETRY_FIRST_MS: '1' };
const AT = '2026-11-29T10:00:00.000Z';

let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let worker: Worker;
let group: DirectoryNamespace;
let project: DirectoryProject;
let actor: SeededUser;
let user: SeededUser;

const start = async (env: Record<string, string> = {}): Promise<void> => {
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env: { SMTP_URL: smtp.url, ...env } });
};
beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  smtp = await startMailServer();
  await start();
});
afterAll(async () => {
  await worker.stop();
  await smtp.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  const { seed } = service;
  await service.database.query('delete from place_mails');
  smtp.mails.length = 0;
  group = await seed.group({ plan: 'free', visibility: 'private' });
  project = await seed.project({ namespace_id: group.id, visibility: 'private' });
  actor = await seed.user();
  await seed.member(actor, group, 'owner');
  user = await seed.user();
});

const query = <R = object>(sql: string, values: readonly unknown[] = []) => service.database.query<R>(sql, values);
const isQueued = async () => {
  const [row] = await query<{ count: number }>(
    `select ((select count(*) from place_mail_fan_outs) + (select count(*) from place_mails where state = 'queued'))::int as count`,
  );
  return row!.count > 0;
};
const waitUntilMailsAreSent = () => until(async () => !(await isQueued()), 'an empty queue');
async function publishAndWait(...events: readonly DomainEvent[]): Promise<void> {
  for (const event of events) await publish(nats, event);
  await worker.drained();
  await waitUntilMailsAreSent();
}
const mailTo = (one: SeededUser): ReceivedMail => smtp.mails.find(({ to }) => to === one.notification_email)!;
const setLevel = (
  one: SeededUser,
  level: string,
  switches: object = {},
  place: 'project' | 'namespace' | 'global' = 'project',
) =>
  query(
    `insert into notification_settings (user_id, source_type, source_id, level, switches) values ($1, $2, $3, $4, $5)`,
    [one.id, place, { project: project.id, namespace: group.id, global: 0 }[place], level, JSON.stringify(switches)],
  );
const people = async (count: number, level: 'guest' | 'developer' | null = 'developer'): Promise<SeededUser[]> => {
  const made: SeededUser[] = [];
  for (let at = 0; at < count; at += 1) {
    const one = await service.seed.user();
    if (level !== null) await service.seed.member(one, project, level);
    made.push(one);
  }
  return made;
};

type PlaceKind = 'group' | 'project';
const placeOf = (kind: PlaceKind) => (kind === 'group' ? group : project);
const membershipData = (kind: PlaceKind, who: SeededUser) => ({
  user_id: who.id,
  source_type: kind,
  source_id: placeOf(kind).id,
});
const memberAddedEvent = (kind: PlaceKind, who = user, actorId = actor.id) =>
  memberAdded.of({ aggregateId: 1, actorId, data: { ...membershipData(kind, who), access_level: 30, added_at: AT } });
/** A bot that the actor created adds a member. */
const memberAddedByBotEvent = (bot: SeededUser, who: SeededUser) =>
  memberAdded.of({
    ...{ aggregateId: 1, actorId: bot.id },
    data: { ...membershipData('group', who), access_level: 30, added_at: AT, responsible_id: actor.id },
  });
const memberChangedEvent = (kind: PlaceKind, who = user) =>
  memberChanged.of({
    aggregateId: 1,
    actorId: actor.id,
    data: { ...membershipData(kind, who), access_level: 30, changed_at: AT },
  });
const accessRequestEvent = (
  kind: PlaceKind,
  state: 'requested' | 'accepted' | 'denied' | 'withdrawn',
  actorId = user.id,
) =>
  accessRequestChanged.of({ aggregateId: 1, actorId, data: { ...membershipData(kind, user), state, changed_at: AT } });
const projectMovedEvent = (bot?: SeededUser) =>
  projectMoved.of({
    aggregateId: project.id,
    actorId: bot?.id ?? actor.id,
    data: { project_id: project.id, namespace_id: group.id, ...(bot ? { responsible_id: actor.id } : {}) },
  });
async function publishRelease(fields: { name?: string; description?: string | null } = {}) {
  const { name = 'First light', description = 'Now **with** eggs.' } = fields;
  const [row] = await query<{ id: number }>(
    `insert into releases (project_id, tag, name, description, author_id, released_at) values ($1, 'v1.0/rc', $2, $3, $4, now())
     returning id`,
    [project.id, name, description, actor.id],
  );
  const data = { release_id: row!.id, project_id: project.id, author_id: actor.id, created_at: AT };
  return releaseCreated.of({ aggregateId: row!.id, actorId: actor.id, data });
}

describe('the limit of e-mails that a user causes in an hour', () => {
  const limited = async (by: SeededUser, ...events: readonly DomainEvent[]) => {
    await worker.stop();
    await start({ MAILER_PER_ACTOR_PER_HOUR_COUNT: '2' });
    try {
      for (const event of events) await publishAndWait(event);
    } finally {
      await worker.stop();
      await start();
    }
    const isNew = `created_at > now() - interval '1 hour'`;
    return query(`select template from place_mails where actor_id = $1 and ${isNew} order by id`, [by.id]);
  };
  const members = async (count: number) => {
    const made = await people(count, null);
    for (const one of made) await service.seed.member(one, group, 'developer');
    return made;
  };

  test('covers memberships and changes, and neither other users nor the hour before', async () => {
    const [first, second, third, other] = await members(4);
    await query(
      `insert into place_mails (source_event_id, recipient_id, template, group_id, actor_id, responsible_id, state, created_at)
       select gen_random_uuid(), $1, 'member_added', $2, $3, $3, 'sent', now() - interval '61 minutes'
       from generate_series(1, 2)`,
      [first!.id, group.id, actor.id],
    );
    const events = [
      memberAddedEvent('group', first),
      memberChangedEvent('group', second),
      memberAddedEvent('group', third),
    ];
    expect(await limited(actor, ...events, memberAddedEvent('group', other, user.id))).toEqual([
      { template: 'member_added' },
      { template: 'member_changed' },
    ]);
    expect(smtp.recipients()).toEqual(names(first!, second!, other!));
  });

  test('is one limit for a user and the bots that the user created', async () => {
    const [first, second, third] = (await members(3)) as [SeededUser, SeededUser, SeededUser];
    const bots = [await service.seed.user({ kind: 'project_bot' }), await service.seed.user({ kind: 'project_bot' })];
    await limited(
      actor,
      memberAddedEvent('group', first),
      memberAddedByBotEvent(bots[0]!, second),
      memberAddedByBotEvent(bots[1]!, third),
    );
    expect(smtp.recipients()).toEqual(names(first, second));
  });

  test('does not apply to administrators', async () => {
    const admin = await service.seed.user({ admin: true });
    const made = await members(3);
    await limited(admin, ...made.map((one) => memberAddedEvent('group', one, admin.id)));
    expect(smtp.recipients()).toEqual(names(...made));
  });
});

describe.each<PlaceKind>(['group', 'project'])('the e-mail about a membership of a %s', (kind) => {
  const home = () =>
    kind === 'group'
      ? `http://localhost:8080/groups/${group.full_path}`
      : `http://localhost:8080/${group.full_path}/${project.path}`;

  test('is for the new member, once for an event that is delivered twice', async () => {
    await service.seed.member(user, placeOf(kind), 'developer', '2999-12-31');
    const id = await publish(nats, memberAddedEvent(kind));
    await worker.drained();
    await publish(nats, memberAddedEvent(kind), id);
    await worker.drained();
    await waitUntilMailsAreSent();
    expect(smtp.recipients()).toEqual(names(user));
    const { parsed } = mailTo(user);
    expect(parsed.subject).toBe(`${placeOf(kind).name} | You are a member of the ${kind}`);
    expect(parsed.text).toContain(
      `${actor.name} (@${actor.username}) added you to the ${kind} ${placeOf(kind).name} as developer until 2999-12-31.\n${home()}\n`,
    );
    expect(parsed.text).toContain(`Notification settings: ${home()}/-/notifications`);
    expect(parsed.html).toContain(`href="${home()}"`);
    expect(parsed.headers.get(`x-platform-${kind}-id`)).toBe(String(placeOf(kind).id));
  });

  test('about another level is for the member', async () => {
    await service.seed.member(user, placeOf(kind), 'reporter');
    await publishAndWait(memberChangedEvent(kind));
    expect(smtp.recipients()).toEqual(names(user));
    expect(mailTo(user).parsed.text).toContain('You are now reporter.');
  });

  test('about a request is for those who may accept it, and not for other members', async () => {
    const owner = await service.seed.user();
    await service.seed.member(owner, placeOf(kind), 'owner');
    const other = await service.seed.user();
    await service.seed.member(other, placeOf(kind), 'developer');
    await publishAndWait(accessRequestEvent(kind, 'requested'));
    // The nearest place with owners: for the group both owners, for the project its own.
    expect(smtp.recipients()).toEqual(kind === 'group' ? names(owner, actor) : names(owner));
    const { text } = mailTo(owner).parsed;
    expect(text).toContain(`${user.name} (@${user.username}) requested access to the ${kind} ${placeOf(kind).name}.`);
    expect(text).toContain(`${home()}/-/${kind}_members?tab=access_requests`);
  });

  test('about a denied request is for its user, who can still read the place; a withdrawn or accepted one has none', async () => {
    await publishAndWait(
      accessRequestEvent(kind, 'denied', actor.id),
      accessRequestEvent(kind, 'withdrawn'),
      accessRequestEvent(kind, 'accepted', actor.id),
    );
    expect(await query('select 1 from place_mails')).toEqual([]);
    const table = kind === 'group' ? 'namespaces' : 'projects';
    await query(`update directory_${table} set visibility = 'public' where id = $1`, [placeOf(kind).id]);
    await publishAndWait(
      accessRequestEvent(kind, 'withdrawn'),
      accessRequestEvent(kind, 'accepted', actor.id),
      accessRequestEvent(kind, 'denied', actor.id),
    );
    expect(smtp.recipients()).toEqual(names(user));
    expect(mailTo(user).parsed.text).toContain(`Your request to join the ${kind} ${placeOf(kind).name} was denied.`);
  });

  test.each<[string, () => Promise<unknown>]>([
    [
      'a user whose level there is disabled',
      () => setLevel(user, 'disabled', {}, kind === 'group' ? 'namespace' : 'project'),
    ],
    ['a user whose general level is disabled', () => setLevel(user, 'disabled', {}, 'global')],
    ['a blocked user', () => service.seed.put('users', { ...userRow(), state: 'blocked' })],
    ['a bot', () => service.seed.put('users', { ...userRow(), kind: 'project_bot' })],
    ['a user without a confirmed address', () => service.seed.put('users', { ...userRow(), notification_email: null })],
    [
      'a user whose membership has ended',
      () => query('delete from directory_memberships where user_id = $1', [user.id]),
    ],
    ['a group without e-mails', () => service.seed.put('namespaces', { ...group, emails_enabled: false })],
  ])('is not queued for %s', async (_, change) => {
    await service.seed.member(user, placeOf(kind), 'developer');
    await change();
    await publishAndWait(memberAddedEvent(kind), memberChangedEvent(kind));
    expect(await query('select 1 from place_mails')).toEqual([]);
  });

  test('is not for the user who acted', async () => {
    await service.seed.member(user, placeOf(kind), 'developer');
    await publishAndWait(memberAddedEvent(kind, user, user.id));
    expect(await query('select 1 from place_mails')).toEqual([]);
  });
});
const userRow = (): object => Object.fromEntries(Object.entries(user).filter(([name]) => name !== 'namespace_id'));

test('an e-mail that waits covers later events of the same kind', async () => {
  const [asker] = (await people(1, null)) as [SeededUser];
  await service.seed.member(user, project, 'developer');
  // Without allowance no e-mail is taken.
  const used =
    'insert into mail_allowances (recipient_id, tokens, refilled_at) select unnest($1::bigint[]), -1000, now()';
  await query(used, [[user.id, actor.id]]);
  const asks = (state: 'requested' | 'withdrawn', changed_at: string) =>
    accessRequestChanged.of({
      ...{ aggregateId: 1, actorId: asker.id },
      data: { ...membershipData('project', asker), state, changed_at },
    });
  const now = Date.now();
  const at = (seconds: number) => new Date(now + seconds * 1000).toISOString();
  const asked = [asks('requested', at(0)), asks('withdrawn', at(1)), asks('requested', at(2))];
  for (const event of [
    memberAddedEvent('project'),
    memberAddedEvent('project'),
    memberChangedEvent('project'),
    memberChangedEvent('project'),
    memberChangedEvent('group'),
  ])
    await publish(nats, event);
  for (const event of asked) await publish(nats, event);
  for (let again = 0; again < 2; again += 1) {
    await publish(nats, projectMovedEvent());
    await worker.drained();
    await until(async () => (await query('select 1 from place_mail_fan_outs')).length === 0, 'the end of the job');
  }
  expect(await query('select template, recipient_id as to from place_mails order by template')).toEqual([
    { template: 'access_requested', to: actor.id },
    { template: 'member_added', to: user.id },
    { template: 'member_changed', to: user.id },
    { template: 'moved_project', to: user.id },
  ]);
  await query('delete from mail_allowances');
  await query('update place_mails set next_attempt_at = now(), allowed_at = now()');
  await waitUntilMailsAreSent();
  expect(smtp.recipients()).toEqual([...names(actor), ...names(user, user, user)].sort());
  await publishAndWait(memberChangedEvent('project'));
  expect(smtp.mails).toHaveLength(5);
});

test('events of former days have no e-mail', async () => {
  await service.seed.member(user, project, 'developer');
  await setLevel(user, 'custom', { new_release: true });
  const [asked] = await people(1);
  const requested = { ...membershipData('project', asked!), state: 'requested', changed_at: AT } as const;
  const events = [
    memberAddedEvent('project'),
    memberChangedEvent('project'),
    accessRequestEvent('project', 'denied', actor.id),
    projectMovedEvent(),
  ];
  const at = new Date(Date.now() - 25 * 60 * 60 * 1000);
  for (const event of [
    ...[...events, await publishRelease()],
    accessRequestChanged.of({ aggregateId: 1, actorId: asked!.id, data: requested }),
  ])
    await publish(nats, event, undefined, at);
  await worker.drained();
  expect([await query('select 1 from place_mails'), await query('select 1 from place_mail_fan_outs')]).toEqual([
    [],
    [],
  ]);
  await publishAndWait(memberChangedEvent('project'));
  expect(smtp.recipients()).toEqual(names(user));
});

describe('the e-mail about a release', () => {
  test('is for users who turned its switch on, with its description', async () => {
    const [on, off, watcher, near, general] = (await people(5)) as [SeededUser, ...SeededUser[]];
    await setLevel(on, 'custom', { new_release: true });
    await setLevel(off!, 'custom', { new_issue: true });
    await setLevel(watcher!, 'watch', { new_release: true });
    await setLevel(near!, 'custom', { new_release: true }, 'namespace');
    await setLevel(general!, 'custom', { new_release: true }, 'global');
    const [outsider] = await people(1, null);
    await setLevel(outsider!, 'custom', { new_release: true });
    await setLevel(actor, 'custom', { new_release: true });
    await publishAndWait(await publishRelease());
    expect(smtp.recipients()).toEqual(names(on, near!, general!));
    const { parsed } = mailTo(on);
    expect(parsed.subject).toBe(`${project.name} | Release First light (v1.0/rc)`);
    expect(parsed.text).toContain(`${actor.name} (@${actor.username}) published the release First light (v1.0/rc).`);
    expect(parsed.text).toContain(`/-/releases/v1.0%2Frc\n\nNow **with** eggs.`);
    expect(parsed.html).toContain('<strong>with</strong>');
  });

  test('of a public project reaches only those strangers who set it there', async () => {
    await service.seed.put('projects', { ...project, visibility: 'public' });
    const [near, general] = (await people(2, null)) as [SeededUser, SeededUser];
    await setLevel(near, 'custom', { new_release: true });
    await setLevel(general, 'custom', { new_release: true }, 'global');
    await publishAndWait(await publishRelease());
    expect(smtp.recipients()).toEqual(names(near));
  });

  test('has neither the name nor the tag for members who may not read the code', async () => {
    const [reader] = (await people(1)) as [SeededUser];
    const [member] = (await people(1, 'guest')) as [SeededUser];
    for (const one of [reader, member]) await setLevel(one, 'custom', { new_release: true });
    const event = await publishRelease();
    await publishAndWait(event);
    expect(mailTo(reader).parsed.text).toContain('First light (v1.0/rc)');
    const { subject, text, html } = mailTo(member).parsed;
    expect(subject).toBe(`${project.name} | Release Release-${event.data.release_id}`);
    expect(text).toContain(`/${project.path}/-/releases\n`);
    expect(`${subject} ${text} ${html as string}`).not.toMatch(/First light|v1\.0/);
  });

  test.each<[string, boolean]>([
    ['private', true],
    ['disabled', false],
  ])('needs the repository, whose level is %s', async (repository_access_level, isSent) => {
    await service.seed.put('projects', { ...project, repository_access_level });
    const [member] = (await people(1, 'guest')) as [SeededUser];
    await setLevel(member, 'custom', { new_release: true });
    await publishAndWait(await publishRelease());
    expect(smtp.recipients()).toEqual(isSent ? names(member) : []);
  });
});

describe('the e-mail about a moved or renamed project', () => {
  /** E-mails about moves that were sent `minutes` ago, for one event or for an event each. */
  const sentBefore = (count: number, { eventId = null as string | null, minutes = 1 } = {}) =>
    query(
      `insert into place_mails (source_event_id, recipient_id, template, project_id, actor_id, responsible_id, state, created_at)
       select coalesce($1::uuid, gen_random_uuid()), 4000000 + g, 'moved_project', $2, $3, $3, 'sent',
         now() - make_interval(mins => $4) from generate_series(1, $5) g`,
      [eventId, project.id, actor.id, minutes, count],
    );

  test.each<[string, boolean]>([
    ['is not sent for a user who has caused 5,000 of them in this hour', false],
    ['is sent for an administrator who has caused 5,000 of them in this hour', true],
  ])('%s', async (_, admin) => {
    await service.seed.put('users', { ...actor, admin });
    const [member] = (await people(1)) as [SeededUser];
    await sentBefore(5000, { eventId: randomUUID(), minutes: 61 });
    await sentBefore(4999, { eventId: randomUUID() });
    await publishAndWait(projectMovedEvent());
    expect(smtp.recipients()).toEqual(names(member));
    await publishAndWait(projectMovedEvent());
    expect(smtp.recipients()).toHaveLength(admin ? 2 : 1);
  });

  test('reaches all members if it is about the first move of the hour', async () => {
    const [member] = (await people(1)) as [SeededUser];
    const [first, second] = [randomUUID(), randomUUID()];
    await sentBefore(5000, { eventId: first, minutes: 2 });
    await sentBefore(1, { eventId: second });
    await publish(nats, projectMovedEvent(), second);
    await worker.drained();
    await waitUntilMailsAreSent();
    expect(smtp.recipients()).toEqual([]);
    await publish(nats, projectMovedEvent(), first);
    await worker.drained();
    await waitUntilMailsAreSent();
    expect(smtp.recipients()).toEqual(names(member));
  });

  test('counts for the user who created the bot that moved the project', async () => {
    const [member] = (await people(1)) as [SeededUser];
    await sentBefore(19);
    for (let again = 0; again < 2; again += 1) {
      await publishAndWait(projectMovedEvent(await service.seed.user({ kind: 'project_bot' })));
      expect(smtp.recipients()).toEqual(names(member, actor));
    }
  });

  test.each<[string, boolean]>([
    ['is not sent for a user who has moved twenty projects in this hour', false],
    ['is sent for an administrator who has moved twenty projects in this hour', true],
  ])('%s', async (_, admin) => {
    await service.seed.put('users', { ...actor, admin });
    const [member] = (await people(1)) as [SeededUser];
    await sentBefore(19);
    await publishAndWait(projectMovedEvent());
    expect(smtp.recipients()).toEqual(names(member));
    await publishAndWait(projectMovedEvent());
    expect(smtp.recipients()).toHaveLength(admin ? 2 : 1);
  });

  test('is for its members at any level but disabled, also of groups above and invited ones', async () => {
    const [plain, mention, disabled, custom, off] = (await people(5)) as [SeededUser, ...SeededUser[]];
    await setLevel(mention!, 'mention');
    await setLevel(disabled!, 'disabled');
    await setLevel(custom!, 'custom', { new_issue: true });
    await setLevel(off!, 'custom', { moved_project: false });
    const [above, invited, watcher] = (await people(3, null)) as [SeededUser, SeededUser, SeededUser];
    await service.seed.member(above, group, 'guest');
    const friends = await service.seed.group();
    await service.seed.member(invited, friends, 'developer');
    await service.seed.share(project, friends, 'guest');
    await setLevel(watcher, 'watch');
    await publishAndWait(projectMovedEvent());
    const expected = names(plain, mention!, custom!, above, invited);
    expect(smtp.recipients()).toEqual(expected);
    expect(mailTo(plain).parsed.text).toContain(`Its path is now ${group.full_path}/${project.path}.`);
    smtp.mails.length = 0;
    const data = { project_id: project.id, namespace_id: group.id };
    await publishAndWait(projectRenamed.of({ aggregateId: project.id, actorId: actor.id, data }));
    expect(smtp.recipients()).toEqual(expected);
  });

  test('is queued in batches, each user once', async () => {
    await query(
      `insert into directory_users (id, username, name, state, kind, admin, external, private_profile, notification_email, created_at)
       select 3000000 + g, 'many' || g, 'Many', 'active', 'human', false, false, false, 'm' || g || '@mail.example', now()
       from generate_series(1, 600) g`,
    );
    await query(
      `insert into directory_memberships (id, user_id, source_type, source_id, access_level)
       select 3000000 + g, 3000000 + g, 'project', $1, 30 from generate_series(1, 600) g`,
      [project.id],
    );
    // The e-mails are queued only: to send them would take long.
    await worker.stop();
    const { app } = service;
    const about = { projectId: project.id, groupId: null, actorId: actor.id, responsibleId: actor.id, subjectId: null };
    const notice = { eventId: randomUUID(), template: 'moved_project', ...about } as const;
    await app.get(Work).run((tx) => app.get(ProjectOrGroupMailEnqueuer).forAll(tx, notice));
    const [fanOut] = await query<{ id: number }>('select id from place_mail_fan_outs');
    const run = (signal: AbortSignal) => app.get(ProjectMailsJob).run({ params: { fan_out_id: fanOut!.id }, signal });
    await expect(run(AbortSignal.abort())).rejects.toThrow();
    // The first 500 are the user who acted and 499 others.
    expect(await query('select 1 from place_mails')).toHaveLength(499);
    for (let again = 0; again < 2; again += 1) await run(new AbortController().signal);
    expect(await query('select 1 from place_mail_fan_outs')).toEqual([]);
    const [row] = await query(
      'select count(*)::int as count, count(distinct recipient_id)::int as users from place_mails',
    );
    expect(row).toEqual({ count: 600, users: 600 });
    await query('delete from directory_memberships where id > 3000000');
    await query('delete from place_mails');
    await start();
  });
});

test('e-mails that are not due any more when they are sent are dropped', async () => {
  const [lost, muted, watcher, unswitched, blocked, demoted, asked] = (await people(7)) as SeededUser[] as [
    ...[SeededUser, SeededUser, SeededUser, SeededUser, SeededUser, SeededUser, SeededUser],
  ];
  for (const one of [watcher, unswitched]) await setLevel(one, 'custom', { new_release: true });
  const asker = await service.seed.user();
  const requestTo = (at: DirectoryProject, state: 'requested' | 'withdrawn', changed_at = AT) =>
    accessRequestChanged.of({
      ...{ aggregateId: 1, actorId: asker.id },
      data: { user_id: asker.id, source_type: 'project', source_id: at.id, state, changed_at },
    });
  const [other, third] = [await service.seed.project(), await service.seed.project()];
  await service.seed.member(demoted, other, 'owner');
  await service.seed.member(asked, third, 'owner');
  await worker.stop();
  await start(AWAY);
  const [first, second] = [await publishRelease(), memberAddedEvent('project', lost)];
  const causes = [
    first,
    second,
    memberAddedEvent('project', muted),
    memberChangedEvent('project', blocked),
    requestTo(other, 'requested'),
  ];
  for (const event of [...causes, requestTo(third, 'requested')]) await publish(nats, event);
  await worker.drained();
  await until(async () => (await query('select 1 from place_mail_fan_outs')).length === 0, 'the end of the job');
  expect(await query(`select 1 from place_mails where state = 'queued'`)).toHaveLength(7);
  await publish(nats, requestTo(third, 'withdrawn', '2026-11-29T10:01:00.000Z'));
  await worker.drained();
  await worker.stop();
  await query('delete from directory_memberships where user_id = $1', [lost.id]);
  await setLevel(muted, 'disabled', {}, 'global');
  await query(`update directory_users set state = 'blocked' where id = $1`, [blocked.id]);
  await query('update directory_memberships set access_level = 30 where user_id = $1', [demoted.id]);
  await query(`update notification_settings set switches = '{}' where user_id = $1`, [unswitched.id]);
  await query('update place_mails set next_attempt_at = now()');
  await start();
  await waitUntilMailsAreSent();
  expect(smtp.recipients()).toEqual(names(watcher));
  expect(await query(`select 1 from place_mails where state = 'dropped'`)).toHaveLength(6);
  smtp.mails.length = 0;
});

test('hostile names add no header and no markup', async () => {
  const name = 'a\r\nBcc: v@evil.example <script>';
  await service.seed.put('projects', { ...project, name });
  await service.seed.member(user, project, 'developer');
  await setLevel(user, 'custom', { new_release: true });
  await publishAndWait(
    await publishRelease({ name, description: '<script>x</script>![](https://evil.example/x.png)' }),
    memberAddedEvent('project'),
  );
  expect(smtp.mails).toHaveLength(2);
  for (const { parsed } of smtp.mails) {
    expect(parsed.headers.has('bcc')).toBe(false);
    expect(parsed.html).not.toMatch(/<script|<img/);
  }
});

test('old e-mails are deleted, queued ones are not', async () => {
  await worker.stop();
  await start({ MAILER_ENABLED: 'off' });
  await query(
    `insert into place_mails (source_event_id, recipient_id, template, project_id, state, created_at, next_attempt_at)
     select gen_random_uuid(), 1, 'moved_project', 1, s, now() - interval '31 days', 'infinity'
     from unnest('{queued,sent,dropped}'::text[]) s`,
  );
  expect(await deleteOldRows(service)).toBe(2);
  expect(await query(`select 1 from place_mails where state = 'queued'`)).toHaveLength(1);
});
