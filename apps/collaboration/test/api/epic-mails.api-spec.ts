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
const { forget, mailTo, mails, told } = box;

beforeAll(async () => {
  service = await startCollaboration();
  await box.start();
  // Ids and numbers must differ, so that one cannot stand for the other.
  await service.database.query('alter sequence epics_id_seq restart with 7000');
});
afterAll(async () => {
  await box.stop();
  await service.close();
});
const inGroup = async (over: Parameters<typeof places.group>[0] = {}): Promise<void> => {
  above = await places.group(over);
  group = await places.group({ ...over, parent: above });
  cast = await castOf(service.seed, group);
};
beforeEach(async () => {
  await forget();
  await inGroup();
});

const at = (user: SeededUser) => `@${user.username}`;
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
const following = ({ iid }: ShownEpic, user: SeededUser, said: 'subscribe' | 'unsubscribe') =>
  by(user)
    .post(`${places.pathOf(group)}/${iid}/${said}`)
    .expect(201);
async function followedLabel(follower: SeededUser): Promise<number> {
  const labels = `/api/v4/groups/${group.id}/labels`;
  const { body } = await by(cast.owner).post(labels).send({ name: 'wood', color: '#112233' }).expect(201);
  const { id } = body as { id: number };
  await by(follower).post(`${labels}/${id}/subscribe`).expect(201);
  return id;
}
const wants = (user: SeededUser, level: string, of?: DirectoryNamespace) =>
  service.database.query(
    `insert into notification_settings (user_id, source_type, source_id, level) values ($1, $2, $3, $4)`,
    [user.id, of ? 'namespace' : 'global', of?.id ?? 0, level],
  );

describe('who is told', () => {
  test('of a new epic: the named and who follows its labels, not the actor', async () => {
    await followedLabel(cast.developer);
    await opened({ labels: 'wood', description: `x ${at(cast.guest)} ${at(cast.owner)} @all` });
    expect(await told()).toEqual(names(cast.developer, cast.guest));
    expect(header(mailTo(cast.guest), 'x-platform-notificationreason')).toBe('mentioned');
    expect(header(mailTo(cast.developer), 'x-platform-notificationreason')).toBe('subscribed');
    await forget();
    const other = await opened();
    await edit(other, { add_labels: 'wood' });
    expect(await told()).toEqual(names(cast.developer));
    expect(mailTo(cast.developer).parsed.text).toContain(`added the label ~"wood" to epic &${other.iid}: A goal`);
  });

  test('of a comment: author, commenters, the named then and now, who follows; not who left', async () => {
    const epic = await opened({ description: `${at(cast.guest)} ${at(cast.maintainer)}` });
    await comment(epic, `x ${at(cast.external)}`, cast.developer);
    // Who was named takes part once the effect has run, and only then can they leave.
    await forget();
    await following(epic, cast.admin, 'subscribe');
    await following(epic, cast.maintainer, 'unsubscribe');
    await forget();
    await comment(epic, `y ${at(cast.stranger)}`, cast.reporter);
    expect(await told()).toEqual(
      names(cast.owner, cast.guest, cast.external, cast.developer, cast.stranger, cast.admin),
    );
    expect(header(mailTo(cast.stranger), 'x-platform-notificationreason')).toBe('mentioned');
    expect(header(mailTo(cast.owner), 'x-platform-notificationreason')).toBeUndefined();
    await forget();
    await comment(epic, `by name ${at(cast.maintainer)}`, cast.reporter);
    expect(await told()).toContain(cast.maintainer.username);
  });

  test('of a comment: nobody for having been named where they may not read', async () => {
    const epic = await opened();
    await comment(epic, `${at(cast.planner)} ${at(cast.stranger)} ${at(cast.reporter)}`, cast.developer, {
      internal: true,
    });
    await forget();
    await comment(epic, 'public');
    expect(await told()).toEqual(names(cast.developer, cast.reporter));
  });

  test('of closing and reopening: those who take part', async () => {
    const epic = await opened({ description: at(cast.guest) });
    await comment(epic, 'x', cast.reporter);
    await forget();
    await edit(epic, { state_event: 'close' });
    expect(await told()).toEqual(names(cast.guest, cast.reporter));
    expect(mailTo(cast.guest).parsed.text).toContain(`closed epic &${epic.iid}: A goal`);
    await forget();
    await edit(epic, { state_event: 'reopen' }, cast.planner);
    expect(await told()).toEqual(names(cast.guest, cast.owner, cast.reporter));
    expect(mailTo(cast.guest).parsed.text).toContain(`reopened epic &${epic.iid}: A goal`);
  });

  test('of another text: the newly named alone; of a new parent: nobody', async () => {
    const epic = await opened({ description: `x ${at(cast.guest)}` });
    await forget();
    await edit(epic, { description: `x ${at(cast.guest)} ${at(cast.reporter)}`, color: '#123456' });
    expect(await told()).toEqual(names(cast.reporter));
    await forget();
    await service.seed.put('namespaces', { ...group, plan: 'ultimate' });
    const { id } = await opened();
    await edit(epic, { parent_id: id });
    expect(await told()).toEqual([]);
  });

  test('not where e-mails are switched off, of the group or of one above', async () => {
    const silent: readonly [DirectoryNamespace, Partial<DirectoryNamespace>][] = [
      [group, { emails_enabled: false }],
      [above, { emails_enabled: false }],
    ];
    for (const [place, over] of silent) {
      await service.seed.put('namespaces', { ...place, ...over });
      await opened({ description: at(cast.guest) });
      expect(await told()).toEqual([]);
      await service.seed.put('namespaces', place);
    }
    await opened({ description: at(cast.guest) });
    expect(await told()).toEqual(names(cast.guest));
  });

  test('as much as they want to hear of the group, of those above it, and in general', async () => {
    await wants(cast.guest, 'disabled');
    await wants(cast.planner, 'mention', above);
    await wants(cast.reporter, 'disabled', above);
    await wants(cast.reporter, 'participating', group);
    await wants(cast.developer, 'disabled', above);
    await wants(cast.developer, 'global', group);
    await wants(cast.stranger, 'disabled');
    await wants(cast.stranger, 'watch', above);
    const all = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'stranger'] as const;
    const epic = await opened({ description: all.map((name) => at(cast[name])).join(' ') });
    expect(await told()).toEqual(names(cast.planner, cast.reporter, cast.maintainer, cast.stranger));
    await forget();
    await comment(epic, 'to all who take part');
    expect(await told()).toEqual(names(cast.reporter, cast.maintainer, cast.stranger));
    await following(epic, cast.guest, 'unsubscribe');
    await following(epic, cast.guest, 'subscribe');
    await forget();
    await comment(epic, 'whoever follows hears of it, whatever they want in general');
    expect(await told()).toContain(cast.guest.username);
  });
});

describe('who may read', () => {
  const readers = {
    'an epic': ['guest', 'planner', 'reporter', 'admin', 'stranger', 'external'],
    'a confidential epic': ['planner', 'reporter', 'admin'],
    'an internal note': ['reporter', 'admin'],
  } as const;
  test.each(Object.keys(readers) as (keyof typeof readers)[])('is told of %s', async (secret) => {
    for (const visibility of ['public', 'internal', 'private'] as const) {
      await inGroup({ visibility });
      const epic = await opened({ confidential: secret === 'a confidential epic' });
      await forget();
      const people = readers['an epic'].map((name) => at(cast[name])).join(' ');
      await comment(epic, `secret for ${people}`, cast.owner, { internal: secret === 'an internal note' });
      const outside = { public: [], internal: ['external'], private: ['external', 'stranger'] }[visibility] as string[];
      const expected = readers[secret].filter((name) => !outside.includes(name)).map((name) => cast[name]);
      expect([visibility, await told()]).toEqual([visibility, names(...expected)]);
    }
  });

  const changes: [string, (epic: ShownEpic, noteId: number) => Promise<unknown>][] = [
    [
      'is a stranger now',
      () => service.database.query('delete from directory_memberships where user_id = $1', [cast.guest.id]),
    ],
    [
      'reads no confidential epic',
      (epic) => service.database.query('update epics set confidential = true where id = $1', [epic.id]),
    ],
    [
      'reads no internal note',
      (_, id) => service.database.query('update notes set internal = true where id = $1', [id]),
    ],
    ['has no plan for epics now', () => service.seed.put('namespaces', { ...group, plan: 'free' })],
    ['wants nothing of the group above now', () => wants(cast.guest, 'disabled', above)],
  ];
  test.each(changes)('is asked again when it is sent: who %s gets nothing', async (_, change) => {
    await inGroup({ visibility: 'private' });
    const epic = await opened();
    await box.heldBack(
      () => comment(epic, `x ${at(cast.guest)}`),
      (note) => change(epic, note.id),
    );
    expect(await told()).toEqual([]);
    expect(await box.lastState(cast.guest)).toBe('dropped');
  });

  test('a label of a group that is not above any more is not told', async () => {
    const id = await followedLabel(cast.developer);
    const epic = await opened();
    const elsewhere = await places.group();
    await box.heldBack(
      () => Promise.resolve(edit(epic, { add_labels: 'wood' })),
      () => service.database.query('update labels set group_id = $1 where id = $2', [elsewhere.id, id]),
    );
    expect(await told()).toEqual([]);
    expect(await box.lastState(cast.developer)).toBe('dropped');
  });
});

test('a mail has the subject, people, thread and facts that clients sort by', async () => {
  const epic = await opened({ title: 'Größe | "x"', description: `Hello ${at(cast.guest)}, **look**` });
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
