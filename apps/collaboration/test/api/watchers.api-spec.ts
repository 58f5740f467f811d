import type { DirectoryNamespace, DirectoryProject, DomainEvent } from '@rookery/contracts';
import { mergeRequestCreated, mergeRequestMerged, mergeRequestReopened } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import type { SeededService, SeededUser } from '@rookery/testing';
import { NOTIFICATION_LEVELS } from '../../src/following/notification-settings/notification-levels';
import type { NotificationLevel } from '../../src/following/notification-settings/notification-levels';
import type { NotificationSwitch } from '../../src/following/notification-settings/notification-switches';
import { castOf, ROLES, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { issueActions } from '../support/issue-actions';
import { header, mailbox, names } from '../support/mailbox';
import { insertMergeRequestRow } from '../support/merge-request-rows';

let service: SeededService;
let above: DirectoryNamespace;
let group: DirectoryNamespace;
let project: DirectoryProject;
let cast: Cast;
const box = mailbox(() => service);
const { clear, mailTo, recipients } = box;

beforeAll(async () => {
  service = await startCollaboration();
  await box.start();
});
afterAll(async () => {
  await box.stop();
  await service.close();
});
const useProject = async (over: Partial<DirectoryProject> = {}, plan: 'premium' | 'ultimate' = 'ultimate') => {
  above = await service.seed.group({ plan });
  group = await service.seed.group({ parent: above, plan });
  project = await service.seed.project({ namespace_id: group.id, ...over });
  cast = await castOf(service.seed, project);
};
beforeEach(async () => {
  await clear();
  await useProject();
});

const { by, anIssue, comment, edit } = issueActions(() => ({ service, project, cast }));
const mentionOf = (user: SeededUser) => `@${user.username}`;
type Place = 'global' | 'above' | 'group' | 'project';
const insertSetting = (user: SeededUser, place: Place, level: NotificationLevel, switches: object = {}) =>
  service.database.query(
    `insert into notification_settings (user_id, source_type, source_id, level, switches) values ($1, $2, $3, $4, $5)`,
    [
      user.id,
      place === 'global' ? place : place === 'project' ? place : 'namespace',
      { global: 0, above: above.id, group: group.id, project: project.id }[place],
      level,
      JSON.stringify(switches),
    ],
  );
const member = async (of: DirectoryProject | DirectoryNamespace = group): Promise<SeededUser> => {
  const user = await service.seed.user();
  await service.seed.member(user, of, 'guest');
  return user;
};

/** Switches that turn on the subject, another one, or none. */
const SWITCHES = ['its', 'another', 'none'] as const;
interface Setting {
  readonly place: Place;
  readonly level: NotificationLevel;
  readonly on: (typeof SWITCHES)[number];
  readonly takesPart: boolean;
  readonly user: SeededUser;
}
const describeSetting = ({ place, level, on, takesPart }: Setting): string =>
  `${place} ${level} ${on} ${takesPart ? 'participant' : 'member'}`;

/** A member for each level, place and switch, who participates or not. */
async function membersWithSettings(its: NotificationSwitch | null): Promise<Setting[]> {
  const made: Setting[] = [];
  for (const place of ['global', 'above', 'group', 'project'] as const) {
    for (const level of NOTIFICATION_LEVELS) {
      for (const on of level === 'custom' ? SWITCHES : (['none'] as const)) {
        for (const takesPart of [true, false]) {
          const user = await member();
          const others = { new_release: true, new_note: true, new_issue: true, close_issue: true, new_epic: true };
          const switches = {
            its: its === null ? {} : { [its]: true },
            another: { ...others, ...(its === null ? {} : { [its]: false }) },
            none: {},
          }[on];
          await insertSetting(user, place, level, switches);
          made.push({ place, level, on, takesPart, user });
        }
      }
    }
  }
  return made;
}

/** Which of them get the e-mail. Source: reference work-tracking 8.2, 8.4. */
const receivesMail =
  (its: NotificationSwitch | null, isWatched: boolean) =>
  ({ level, on, takesPart }: Setting): boolean => {
    if (level === 'disabled' || level === 'mention') return false;
    if (takesPart) return true;
    if (level === 'watch') return isWatched;
    return level === 'custom' && on === 'its' && its !== null;
  };

async function expectRecipients(all: readonly Setting[], expected: (one: Setting) => boolean): Promise<void> {
  const got = await recipients();
  const of = (test: (one: Setting) => boolean) => all.filter(test).map(describeSetting);
  expect(of(({ user }) => got.includes(user.username))).toEqual(of(expected));
}

type Made = { id: number; iid: number };
const EVENTS: [string, NotificationSwitch | null, boolean, (issue: Made) => Promise<unknown>][] = [
  ['a comment', 'new_note', true, (issue) => comment(issue, 'to all')],
  ['closing', 'close_issue', true, (issue) => edit(issue, { state_event: 'close' })],
  ['reassigning', 'reassign_issue', true, (issue) => edit(issue, { assignee_ids: [cast.maintainer.id] })],
  [
    'a move',
    null,
    true,
    async (issue) => {
      const there = await service.seed.project();
      await service.seed.member(cast.owner, there, 'owner');
      const move = { to_project_id: there.id };
      await by(cast.owner).post(`/api/v4/projects/${project.id}/issues/${issue.iid}/move`).send(move).expect(201);
    },
  ],
];
describe('an e-mail about an issue', () => {
  test.each(EVENTS)('for %s is sent by level, place and switch', async (_, its, isWatched, cause) => {
    const all = await membersWithSettings(its);
    const issue = await anIssue();
    await service.database.query(
      `insert into participants (noteable_type, noteable_id, user_id, project_id)
       select 'Issue', $1, person, $2 from unnest($3::bigint[]) person`,
      [issue.id, project.id, all.flatMap(({ takesPart, user }) => (takesPart ? [user.id] : []))],
    );
    await clear();
    await cause(issue);
    await expectRecipients(all, receivesMail(its, isWatched));
  });

  test('for reopening is sent by its switch', async () => {
    const [yes, no] = [await member(), await member()];
    const issue = await anIssue();
    await edit(issue, { state_event: 'close' });
    await clear();
    await insertSetting(yes, 'group', 'custom', { reopen_issue: true });
    await insertSetting(no, 'group', 'custom', { close_issue: true });
    await edit(issue, { state_event: 'reopen' });
    expect(await recipients()).toEqual(names(yes));
  });

  test('for a new one is sent to mentioned users and by level, place and switch', async () => {
    const all = await membersWithSettings('new_issue');
    const named = all.filter(({ takesPart }) => takesPart).map(({ user }) => mentionOf(user));
    await anIssue({ description: named.join(' ') });
    await expectRecipients(all, (one) =>
      one.level === 'mention' ? one.takesPart : receivesMail('new_issue', true)(one),
    );
  });

  test('for a changed text or label is not sent to watchers', async () => {
    const watcher = await member();
    await insertSetting(watcher, 'project', 'watch');
    const issue = await anIssue();
    await clear();
    await edit(issue, { description: `x ${mentionOf(cast.guest)}`, add_labels: 'new' });
    expect(await recipients()).toEqual(names(cast.guest));
  });

  test('names the settings as its reason, for a watcher who does not participate', async () => {
    const [watcher, both] = [await member(), await member()];
    for (const user of [watcher, both]) await insertSetting(user, 'project', 'watch');
    await anIssue({ description: mentionOf(both) });
    expect(await recipients()).toEqual(names(watcher, both));
    expect(mailTo(watcher).parsed.text).toContain('because of your notification settings');
    expect(header(mailTo(watcher), 'x-platform-notificationreason')).toBeUndefined();
    expect(header(mailTo(both), 'x-platform-notificationreason')).toBe('mentioned');
  });

  test('is sent to a former assignee with the level mention', async () => {
    const [former, fresh] = [await member(project), await member(project)];
    for (const user of [former, fresh]) await insertSetting(user, 'global', 'mention');
    const issue = await anIssue({ assignee_ids: [former.id] });
    await clear();
    await edit(issue, { assignee_ids: [fresh.id] });
    expect(await recipients()).toEqual(names(former, fresh));
  });
});

describe('an e-mail about a merge request', () => {
  const put = (iid: number, fields: object) =>
    by(cast.owner).put(`/api/v4/projects/${project.id}/merge_requests/${iid}`).send(fields).expect(200);
  const emit = (event: DomainEvent) => service.app.get(Work).run(async (tx) => void tx.emit(event));
  const facts = () => ({
    project_id: project.id,
    author_id: cast.owner.id,
    confidential: false,
    created_at: '2026-01-01T00:00:00.000Z',
  });
  const about = (made: Made) => ({ aggregateId: made.id, actorId: cast.owner.id });
  const ids = (made: Made) => ({ merge_request_id: made.id, merge_request_iid: made.iid, ...facts() });
  const at = '2026-01-02T00:00:00.000Z';
  const causes: [NotificationSwitch, (made: Made) => Promise<unknown>][] = [
    [
      'new_merge_request',
      (made) => emit(mergeRequestCreated.of({ ...about(made), data: { ...ids(made), assignee_ids: [] } })),
    ],
    ['close_merge_request', ({ iid }) => put(iid, { state_event: 'close' })],
    [
      'reopen_merge_request',
      (made) => emit(mergeRequestReopened.of({ ...about(made), data: { ...ids(made), reopened_at: at } })),
    ],
    ['reassign_merge_request', ({ iid }) => put(iid, { assignee_ids: [cast.maintainer.id] })],
    ['change_reviewer_merge_request', ({ iid }) => put(iid, { reviewer_ids: [cast.maintainer.id] })],
    [
      'merge_merge_request',
      (made) => emit(mergeRequestMerged.of({ ...about(made), data: { ...ids(made), merged_at: at } })),
    ],
  ];
  test.each(causes)('is sent by the switch %s', async (its, cause) => {
    const [watcher, on, off, mention, participant] = [
      await member(),
      await member(),
      await member(),
      await member(),
      await member(),
    ];
    await insertSetting(watcher, 'project', 'watch');
    await insertSetting(on, 'group', 'custom', { [its]: true });
    await insertSetting(off, 'group', 'custom', { [its]: false, new_issue: true });
    await insertSetting(mention, 'global', 'mention');
    const made = await insertMergeRequestRow(service, project, { author_id: cast.owner.id });
    await service.database.query(
      `insert into participants (noteable_type, noteable_id, user_id, project_id) values ('MergeRequest', $1, $2, $3)`,
      [made.id, participant.id, project.id],
    );
    await insertSetting(cast.maintainer, 'global', 'mention');
    await cause(made);
    const isFor = ['reassign_merge_request', 'change_reviewer_merge_request'].includes(its) ? [cast.maintainer] : [];
    const taking = its === 'new_merge_request' ? [] : [participant];
    expect(await recipients()).toEqual(names(watcher, on, ...taking, ...isFor));
  });
});

describe('the effective setting', () => {
  const rows: [string, [Place, NotificationLevel][], boolean][] = [
    [
      'of the project wins',
      [
        ['project', 'participating'],
        ['group', 'watch'],
        ['global', 'watch'],
      ],
      false,
    ],
    [
      'of the project wins over a group',
      [
        ['project', 'watch'],
        ['group', 'disabled'],
        ['global', 'disabled'],
      ],
      true,
    ],
    [
      'of the nearest group wins',
      [
        ['group', 'mention'],
        ['above', 'watch'],
      ],
      false,
    ],
    [
      'of the nearest group wins over the next',
      [
        ['group', 'watch'],
        ['above', 'mention'],
      ],
      true,
    ],
    [
      'of a group wins over the general one',
      [
        ['above', 'participating'],
        ['global', 'watch'],
      ],
      false,
    ],
    [
      'skips global',
      [
        ['project', 'global'],
        ['group', 'global'],
        ['above', 'watch'],
        ['global', 'disabled'],
      ],
      true,
    ],
    [
      'is the general one last',
      [
        ['project', 'global'],
        ['group', 'global'],
        ['global', 'watch'],
      ],
      true,
    ],
    [
      'has the switches of its own level',
      [
        ['project', 'custom'],
        ['group', 'watch'],
      ],
      false,
    ],
  ];
  test.each(rows)('%s', async (_, levels, isSent) => {
    const user = await member();
    for (const [place, level] of levels)
      await insertSetting(user, place, level, place === 'group' ? { new_issue: true } : {});
    await anIssue();
    expect(await recipients()).toEqual(isSent ? names(user) : []);
  });
});

describe('watchers', () => {
  test('get e-mails of a place only if they may read the subject', async () => {
    await useProject({ visibility: 'private' });
    const people = ['guest', 'planner', 'reporter', 'admin', 'stranger', 'external'] as const;
    for (const name of people) await insertSetting(cast[name], 'project', 'watch');
    await anIssue();
    expect(await recipients()).toEqual(names(cast.guest, cast.planner, cast.reporter, cast.admin));
    await clear();
    const hidden = await anIssue({ confidential: true });
    expect(await recipients()).toEqual(names(cast.planner, cast.reporter, cast.admin));
    await clear();
    await comment(hidden, 'internal', cast.owner, { internal: true });
    expect(await recipients()).toEqual(names(cast.reporter, cast.admin));
  });

  test('by their general setting are members only, also by an invited group or a group above', async () => {
    const lent = await service.seed.group();
    await service.seed.share(group, lent, 'guest');
    const ended = await service.seed.user();
    await service.seed.member(ended, project, 'guest', '2020-01-01');
    const members = [await member(project), await member(above), await member(lent)];
    for (const user of [...members, ended, cast.stranger, cast.external]) await insertSetting(user, 'global', 'watch');
    await anIssue();
    expect(await recipients()).toEqual(names(...members));
    await clear();
    // A setting for the project itself needs no membership.
    await insertSetting(cast.stranger, 'project', 'watch');
    await anIssue();
    expect(await recipients()).toEqual(names(...members, cast.stranger));
  });

  test('in a personal namespace are found as its owner', async () => {
    const owner = await service.seed.user();
    const own = await service.seed.project({ namespace_id: owner.namespace_id });
    await insertSetting(owner, 'global', 'watch');
    await by(cast.stranger).post(`/api/v4/projects/${own.id}/issues`).send({ title: 'Hello' }).expect(201);
    expect(await recipients()).toEqual(names(owner));
  });

  test('who unsubscribed, are inactive or acted themselves get none, and disabled e-mails reach none', async () => {
    const [gone, inactive, active] = [await member(), await member(), await member()];
    for (const user of [gone, inactive, active, cast.owner]) await insertSetting(user, 'group', 'watch');
    await service.seed.put('users', { ...inactive, state: 'blocked' });
    const issue = await anIssue();
    await clear();
    await service.database.query(
      `insert into subscriptions (noteable_type, noteable_id, user_id, project_id, subscribed) values ('Issue', $1, $2, $3, false)`,
      [issue.id, gone.id, project.id],
    );
    await comment(issue, 'x');
    expect(await recipients()).toEqual(names(active));
    await clear();
    await service.seed.put('namespaces', { ...above, emails_enabled: false });
    await comment(issue, 'y');
    expect(await recipients()).toEqual([]);
  });

  test('of a group get e-mails about its epics, with the switch on the highest plan only', async () => {
    for (const plan of ['ultimate', 'premium'] as const) {
      await useProject({}, plan);
      const [watcher, custom, global] = [await member(above), await member(above), await member(above)];
      await service.seed.member(cast.owner, group, 'owner');
      await insertSetting(watcher, 'above', 'watch');
      await insertSetting(custom, 'above', 'custom', { new_epic: true });
      await insertSetting(global, 'global', 'custom', { new_epic: true, new_note: true });
      const { body } = await by(cast.owner)
        .post(`/api/v4/groups/${group.id}/epics`)
        .send({ title: 'Goal' })
        .expect(201);
      expect([plan, await recipients()]).toEqual([
        plan,
        names(watcher, ...(plan === 'ultimate' ? [custom, global] : [])),
      ]);
      await clear();
      const notes = `/api/v4/groups/${group.id}/epics/${(body as Made).id}/notes`;
      await by(cast.owner).post(notes).send({ body: 'x' }).expect(201);
      expect(await recipients()).toEqual(names(watcher, global));
      await clear();
      await by(cast.owner)
        .put(`/api/v4/groups/${group.id}/epics/${(body as Made).iid}`)
        .send({ state_event: 'close' })
        .expect(200);
      expect(await recipients()).toEqual(names(watcher));
      await clear();
    }
  });

  test('of a project get e-mails about comments on its snippets', async () => {
    const watcher = await member();
    await insertSetting(watcher, 'project', 'watch');
    const files = [{ file_path: 'a.txt', content: 'x' }];
    const { body } = await by(cast.owner)
      .post(`/api/v4/projects/${project.id}/snippets`)
      .send({ title: 'A snippet', visibility: 'public', files })
      .expect(201);
    const notes = `/api/v4/projects/${project.id}/snippets/${(body as Made).id}/notes`;
    await by(cast.owner).post(notes).send({ body: 'x' }).expect(201);
    expect(await recipients()).toEqual(names(watcher));
  });
});

test('roles do not matter but by membership, and by what they may read', async () => {
  const { seed } = service;
  const all: {
    readonly name: string;
    readonly user: SeededUser;
    readonly isPublic: boolean;
    readonly isSecret: boolean;
  }[] = [];
  for (const role of ['none', ...ROLES] as const) {
    for (const place of ['global', 'above', 'group', 'project'] as const) {
      for (const level of NOTIFICATION_LEVELS) {
        const user = await seed.user();
        if (role !== 'none') await seed.member(user, project, role);
        await insertSetting(user, place, level, { new_note: true });
        const isWanted = (level === 'watch' || level === 'custom') && (place !== 'global' || role !== 'none');
        const isSecret = isWanted && role !== 'none' && role !== 'guest';
        all.push({ name: `${role} ${place} ${level}`, user, isPublic: isWanted, isSecret });
      }
    }
  }
  for (const confidential of [false, true]) {
    const issue = await anIssue({ confidential });
    await clear();
    await comment(issue, 'to all');
    const got = await recipients();
    const of = (test: (one: (typeof all)[0]) => boolean) => all.filter(test).map(({ name }) => name);
    expect(of(({ user }) => got.includes(user.username))).toEqual(
      of(({ isPublic, isSecret }) => (confidential ? isSecret : isPublic)),
    );
  }
});

describe('a setting is checked again when the e-mail is sent', () => {
  const put = (user: SeededUser, level: string, switches: object = {}) =>
    by(user)
      .put(`/api/v4/projects/${project.id}/notification_settings`)
      .send({ level, ...switches })
      .expect(200);
  const changes: [string, NotificationLevel, (user: SeededUser) => Promise<unknown>, boolean][] = [
    ['stopped watching', 'watch', async (user) => put(user, 'participating'), false],
    ['now wants mentions only', 'watch', async (user) => put(user, 'mention'), false],
    ['turned the switch off', 'custom', async (user) => put(user, 'custom', { new_note: false }), false],
    ['watches now', 'custom', async (user) => put(user, 'watch'), true],
    ['changed nothing', 'watch', async () => undefined, true],
  ];
  test.each(changes)('a user who %s', async (_, level, change, isSent) => {
    const user = await member();
    await insertSetting(user, 'project', level, { new_note: true });
    const issue = await anIssue();
    await box.sendAfterChange(
      () => comment(issue, 'x'),
      () => change(user),
    );
    expect(await recipients()).toEqual(isSent ? names(user) : []);
    expect(await box.lastState(user)).toBe(isSent ? 'sent' : 'dropped');
  });

  test('a member with the general setting who left the project gets none', async () => {
    const user = await member(project);
    await insertSetting(user, 'global', 'watch');
    const issue = await anIssue();
    await box.sendAfterChange(
      () => comment(issue, 'x'),
      () => service.database.query('delete from directory_memberships where user_id = $1', [user.id]),
    );
    expect(await recipients()).toEqual([]);
  });

  test('a participant keeps the e-mail', async () => {
    const user = await member();
    await insertSetting(user, 'project', 'watch');
    const issue = await anIssue({ description: mentionOf(user) });
    await box.sendAfterChange(
      () => comment(issue, 'x'),
      () => put(user, 'participating'),
    );
    expect(await recipients()).toEqual(names(user));
  });
});
