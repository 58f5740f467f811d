import type { DirectoryNamespace } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { epicPlaces } from '../support/epics';
import type { ShownEpic } from '../support/epics';
import { header, mailbox, names } from '../support/mailbox';

let service: SeededService;
let above: DirectoryNamespace;
let group: DirectoryNamespace;
let cast: Cast;
const places = epicPlaces(() => service);
const box = mailbox(() => service);
const { clear, mailTo, mails, recipients } = box;

beforeAll(async () => {
  service = await startCollaboration();
  await box.start();
  // Ids and iids must differ, so that tests notice a mix-up.
  await service.database.query('alter sequence epics_id_seq restart with 7000');
});
afterAll(async () => {
  await box.stop();
  await service.close();
});
const useGroup = async (over: Parameters<typeof places.group>[0] = {}): Promise<void> => {
  above = await places.group(over);
  group = await places.group({ ...over, parent: above });
  cast = await castOf(service.seed, group);
};
beforeEach(async () => {
  await clear();
  await useGroup();
});

const mentionOf = (user: SeededUser) => `@${user.username}`;
const by = (user: SeededUser) => places.as(places.who(user));
const opened = (fields: object = {}, author = cast.owner) => places.open(places.who(author), group, fields);
const edit = ({ iid }: ShownEpic, fields: object, actor = cast.owner) =>
  by(actor)
    .put(`${places.pathOf(group)}/${iid}`)
    .send(fields)
    .expect(200);
async function comment({ id }: ShownEpic, body: string, author = cast.owner, fields: object = {}) {
  const notes = `${places.pathOf(group)}/${id}/notes`;
  const answer = await by(author)
    .post(notes)
    .send({ body, ...fields })
    .expect(201);
  return answer.body as { id: number };
}
const changeSubscription = ({ iid }: ShownEpic, user: SeededUser, said: 'subscribe' | 'unsubscribe') =>
  by(user)
    .post(`${places.pathOf(group)}/${iid}/${said}`)
    .expect(201);
async function createFollowedLabel(follower: SeededUser): Promise<number> {
  const labels = `/api/v4/groups/${group.id}/labels`;
  const { body } = await by(cast.owner).post(labels).send({ name: 'wood', color: '#112233' }).expect(201);
  const { id } = body as { id: number };
  await by(follower).post(`${labels}/${id}/subscribe`).expect(201);
  return id;
}
const setLevel = (user: SeededUser, level: string, of?: DirectoryNamespace) =>
  service.database.query(
    `insert into notification_settings (user_id, source_type, source_id, level) values ($1, $2, $3, $4)`,
    [user.id, of ? 'namespace' : 'global', of?.id ?? 0, level],
  );

describe('e-mails are sent', () => {
  test('for a new epic: to mentioned users and subscribers of its labels, not to the actor', async () => {
    await createFollowedLabel(cast.developer);
    await opened({ labels: 'wood', description: `x ${mentionOf(cast.guest)} ${mentionOf(cast.owner)} @all` });
    expect(await recipients()).toEqual(names(cast.developer, cast.guest));
    expect(header(mailTo(cast.guest), 'x-platform-notificationreason')).toBe('mentioned');
    expect(header(mailTo(cast.developer), 'x-platform-notificationreason')).toBe('subscribed');
    await clear();
    const other = await opened();
    await edit(other, { add_labels: 'wood' });
    expect(await recipients()).toEqual(names(cast.developer));
    expect(mailTo(cast.developer).parsed.text).toContain(`added the label "wood" to epic &${other.iid}: A goal`);
  });

  test('for a comment: to the author, commenters, mentioned users and subscribers; not after unsubscribing', async () => {
    const epic = await opened({ description: `${mentionOf(cast.guest)} ${mentionOf(cast.maintainer)}` });
    await comment(epic, `x ${mentionOf(cast.external)}`, cast.developer);
    // A mentioned user participates after the effect has run, and can unsubscribe only then.
    await clear();
    await changeSubscription(epic, cast.admin, 'subscribe');
    await changeSubscription(epic, cast.maintainer, 'unsubscribe');
    await clear();
    await comment(epic, `y ${mentionOf(cast.stranger)}`, cast.reporter);
    expect(await recipients()).toEqual(
      names(cast.owner, cast.guest, cast.external, cast.developer, cast.stranger, cast.admin),
    );
    expect(header(mailTo(cast.stranger), 'x-platform-notificationreason')).toBe('mentioned');
    expect(header(mailTo(cast.owner), 'x-platform-notificationreason')).toBeUndefined();
    await clear();
    await comment(epic, `by name ${mentionOf(cast.maintainer)}`, cast.reporter);
    expect(await recipients()).toContain(cast.maintainer.username);
  });

  test('for a comment: not to users mentioned in texts that they cannot read', async () => {
    const epic = await opened();
    await comment(
      epic,
      `${mentionOf(cast.planner)} ${mentionOf(cast.stranger)} ${mentionOf(cast.reporter)}`,
      cast.developer,
      {
        internal: true,
      },
    );
    await clear();
    await comment(epic, 'public');
    expect(await recipients()).toEqual(names(cast.developer, cast.reporter));
  });

  test('for closing and reopening: to participants', async () => {
    const epic = await opened({ description: mentionOf(cast.guest) });
    await comment(epic, 'x', cast.reporter);
    await clear();
    await edit(epic, { state_event: 'close' });
    expect(await recipients()).toEqual(names(cast.guest, cast.reporter));
    expect(mailTo(cast.guest).parsed.text).toContain(`closed epic &${epic.iid}: A goal`);
    await clear();
    await edit(epic, { state_event: 'reopen' }, cast.planner);
    expect(await recipients()).toEqual(names(cast.guest, cast.owner, cast.reporter));
    expect(mailTo(cast.guest).parsed.text).toContain(`reopened epic &${epic.iid}: A goal`);
  });

  test('for a changed text: only to newly mentioned users; for a new parent: to no user', async () => {
    const epic = await opened({ description: `x ${mentionOf(cast.guest)}` });
    await clear();
    await edit(epic, { description: `x ${mentionOf(cast.guest)} ${mentionOf(cast.reporter)}`, color: '#123456' });
    expect(await recipients()).toEqual(names(cast.reporter));
    await clear();
    await service.seed.put('namespaces', { ...group, plan: 'ultimate' });
    const { id } = await opened();
    await edit(epic, { parent_id: id });
    expect(await recipients()).toEqual([]);
  });

  test('for a changed text: not again to members of a group that it mentioned before', async () => {
    const [named, member] = [await service.seed.group(), await service.seed.user()];
    await service.seed.member(member, named, 'guest');
    const epic = await opened({ description: `@${named.full_path}` });
    expect(await recipients()).toEqual(names(member));
    await clear();
    // Old e-mails are deleted; until then they prevent a second one about the same text.
    await service.database.query('delete from mails');
    await edit(epic, { description: `@${named.full_path} and ${mentionOf(cast.guest)}` });
    expect(await recipients()).toEqual(names(cast.guest));
  });

  test('not if e-mails are disabled for the group or an ancestor', async () => {
    const disabled: readonly [DirectoryNamespace, Partial<DirectoryNamespace>][] = [
      [group, { emails_enabled: false }],
      [above, { emails_enabled: false }],
    ];
    for (const [place, over] of disabled) {
      await service.seed.put('namespaces', { ...place, ...over });
      await opened({ description: mentionOf(cast.guest) });
      expect(await recipients()).toEqual([]);
      await service.seed.put('namespaces', place);
    }
    await opened({ description: mentionOf(cast.guest) });
    expect(await recipients()).toEqual(names(cast.guest));
  });

  test('according to the notification levels of the group, its ancestors and the user', async () => {
    await setLevel(cast.guest, 'disabled');
    await setLevel(cast.planner, 'mention', above);
    await setLevel(cast.reporter, 'disabled', above);
    await setLevel(cast.reporter, 'participating', group);
    await setLevel(cast.developer, 'disabled', above);
    await setLevel(cast.developer, 'global', group);
    await setLevel(cast.stranger, 'disabled');
    await setLevel(cast.stranger, 'watch', above);
    const all = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'stranger'] as const;
    const epic = await opened({ description: all.map((name) => mentionOf(cast[name])).join(' ') });
    expect(await recipients()).toEqual(names(cast.planner, cast.reporter, cast.maintainer, cast.stranger));
    await clear();
    await comment(epic, 'to all who take part');
    expect(await recipients()).toEqual(names(cast.reporter, cast.maintainer, cast.stranger));
    await changeSubscription(epic, cast.guest, 'unsubscribe');
    await changeSubscription(epic, cast.guest, 'subscribe');
    await clear();
    await comment(epic, 'whoever follows hears of it, whatever they want in general');
    expect(await recipients()).toContain(cast.guest.username);
  });
});

describe('only readers', () => {
  const readers = {
    'an epic': ['guest', 'planner', 'reporter', 'admin', 'stranger', 'external'],
    'a confidential epic': ['planner', 'reporter', 'admin'],
    'an internal note': ['reporter', 'admin'],
  } as const;
  test.each(Object.keys(readers) as (keyof typeof readers)[])('get e-mails about %s', async (secret) => {
    for (const visibility of ['public', 'internal', 'private'] as const) {
      await useGroup({ visibility });
      const epic = await opened({ confidential: secret === 'a confidential epic' });
      await clear();
      const people = readers['an epic'].map((name) => mentionOf(cast[name])).join(' ');
      await comment(epic, `secret for ${people}`, cast.owner, { internal: secret === 'an internal note' });
      const outside = { public: [], internal: ['external'], private: ['external', 'stranger'] }[visibility] as string[];
      const expected = readers[secret].filter((name) => !outside.includes(name)).map((name) => cast[name]);
      expect([visibility, await recipients()]).toEqual([visibility, names(...expected)]);
    }
  });

  const changes: [string, (epic: ShownEpic, noteId: number) => Promise<unknown>][] = [
    [
      'lost the membership',
      () => service.database.query('delete from directory_memberships where user_id = $1', [cast.guest.id]),
    ],
    [
      'cannot read the confidential epic any more',
      (epic) => service.database.query('update epics set confidential = true where id = $1', [epic.id]),
    ],
    [
      'cannot read the internal note any more',
      (_, id) => service.database.query('update notes set internal = true where id = $1', [id]),
    ],
    ['is in a group that lost the plan', () => service.seed.put('namespaces', { ...group, plan: 'free' })],
    ['disabled notifications of the parent group', () => setLevel(cast.guest, 'disabled', above)],
  ];
  test.each(changes)('are rechecked when it is sent: a user who %s gets none', async (_, change) => {
    await useGroup({ visibility: 'private' });
    const epic = await opened();
    await box.sendAfterChange(
      () => comment(epic, `x ${mentionOf(cast.guest)}`),
      (note) => change(epic, note.id),
    );
    expect(await recipients()).toEqual([]);
    expect(await box.lastState(cast.guest)).toBe('dropped');
  });

  test('omit labels of a group that is no longer an ancestor', async () => {
    const id = await createFollowedLabel(cast.developer);
    const epic = await opened();
    const elsewhere = await places.group();
    await box.sendAfterChange(
      () => Promise.resolve(edit(epic, { add_labels: 'wood' })),
      () => service.database.query('update labels set group_id = $1 where id = $2', [elsewhere.id, id]),
    );
    expect(await recipients()).toEqual([]);
    expect(await box.lastState(cast.developer)).toBe('dropped');
  });
});

test('an e-mail has the subject, sender, thread and headers that clients filter by', async () => {
  const epic = await opened({ title: 'Größe | "x"', description: `Hello ${mentionOf(cast.guest)}, **look**` });
  await box.delivered();
  const { parsed, to, raw } = mailTo(cast.guest);
  const thread = `<epic_${epic.id}@localhost>`;
  expect(to).toBe(cast.guest.notification_email);
  expect(parsed.subject).toBe(`${group.name} | Größe | "x" (&${epic.iid})`);
  expect(parsed.replyTo?.value).toEqual([{ name: group.full_path, address: 'noreply@localhost' }]);
  expect([parsed.messageId, parsed.inReplyTo]).toEqual([thread, undefined]);
  expect(parsed.text).toContain(`created epic &${epic.iid}: Größe`);
  expect(parsed.text).toContain(`http://localhost:8080/groups/${group.full_path}/-/epics/${epic.iid}\n`);
  expect(parsed.text).toContain('because you were mentioned');
  const facts = Object.fromEntries([...parsed.headers].filter(([name]) => name.startsWith('x-platform-')));
  expect(facts).toEqual({
    'x-platform-group': group.name,
    'x-platform-group-id': String(group.id),
    'x-platform-group-path': group.full_path,
    'x-platform-epic-id': String(epic.id),
    'x-platform-epic-iid': String(epic.iid),
    'x-platform-epic-state': 'opened',
    'x-platform-confidentialepic': 'false',
    'x-platform-notificationreason': 'mentioned',
  });
  expect(raw.replace(/\r\n\s+/g, ' ')).toContain(`List-ID: ${group.full_path} <${group.path}.${above.path}.localhost>`);
  mails().length = 0;
  const note = await comment(epic, 'An answer');
  await box.delivered();
  const answer = mailTo(cast.guest).parsed;
  expect(answer.subject).toBe(`Re: ${group.name} | Größe | "x" (&${epic.iid})`);
  expect([answer.messageId, answer.inReplyTo, answer.references]).toEqual([
    expect.stringMatching(new RegExp(`^<note_${note.id}\\.[0-9a-f]{20}@localhost>$`)),
    thread,
    thread,
  ]);
  expect(answer.text).toContain(`/groups/${group.full_path}/-/epics/${epic.iid}#note_${note.id}`);
  mails().length = 0;
  await edit(epic, { state_event: 'close' });
  await box.delivered();
  expect(mailTo(cast.guest).parsed.messageId).toMatch(/^<[0-9a-f]{40}@localhost>$/);
  expect(mailTo(cast.guest).parsed.references).toBe(thread);
  expect(header(mailTo(cast.guest), 'x-platform-epic-state')).toBe('closed');
});
