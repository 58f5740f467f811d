import { requestOf } from '@rookery/testing';
import type { Method, SeededService } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { header, mailbox, names } from '../support/mailbox';
import { hushedAt, ROLES, root, secretScenes, shownAt, talkOf, WORD } from '../support/secret-scenes';
import type { Kind, Scene, Thing, Who } from '../support/secret-scenes';

/**
 * One secret fetched in every way there is, by everybody: whoever may not know of it finds no trace of it, no row for it
 * and no count of it, and no other answer than where there is nothing. Source: reference work-tracking 2.4, 5.1, 9.1.
 */
const READERS: readonly Who[] = ['reporter', 'developer', 'maintainer', 'admin'];
const PLANNERS: readonly Who[] = ['planner', ...READERS];

/**
 * Where it could be met: the path, and what is hidden of it: 404 when it is all there, else by how many rows, or by how
 * much, the answer is smaller. Nobody may mean that not even its readers are told of it there.
 */
type Way = readonly [name: string, path: (scene: Scene) => string, hidden: number | 'nobody', more?: More];
interface More {
  readonly count?: (body: never, scene: Scene) => number;
  /** What gives it away, where it is neither the word nor a number. */
  readonly trace?: (scene: Scene) => string;
}

const byLabels = (body: readonly { readonly open_issues_count: number }[]): number => body[0]!.open_issues_count;

/** That they are administrators is told to administrators alone, by what they were named in. */
const butAdmin = (people: readonly { readonly id: number }[], { cast }: Scene): number =>
  people.filter(({ id }) => id !== cast.admin.id).length;

const LISTED = (kind: Kind): readonly Way[] => [
  ['the list', ({ list }) => list, -1],
  ['what is looked for', ({ list }) => `${list}?search=${WORD}`, -1],
  ['what is confidential', ({ list }) => `${list}?confidential=true`, -1],
  ['what has its label', ({ list }) => `${list}?labels=wood`, -1],
  ['what has another label', ({ list }) => `${list}?not[labels]=iron`, -1],
  ['what has its author', ({ list, cast }) => `${list}?author_id=${cast.owner.id}&state=opened`, -1],
  ['what its group has', ({ group }) => `${group}/${kind}s`, -1],
  ['what groups above have', ({ above }) => `${above}/${kind}s?search=${WORD}`, -1],
  ['the thing', hushedAt, 404],
  ['its notes', (scene) => `${talkOf(kind, scene, scene.hushed)}/notes`, 404],
  ['its note', (scene) => `${talkOf(kind, scene, scene.hushed)}/notes/${scene.note}`, 404],
  ['its discussions', (scene) => `${talkOf(kind, scene, scene.hushed)}/discussions`, 404],
  ['its emoji', (scene) => `${hushedAt(scene)}/award_emoji`, 404],
  ['its emoji, one', (scene) => `${hushedAt(scene)}/award_emoji/${scene.award}`, 404, { trace: () => '"tada"' }],
  [
    'emoji of its note',
    (scene) => `${hushedAt(scene)}/notes/${scene.note}/award_emoji`,
    404,
    { trace: () => '"tada"' },
  ],
  ['changes of its labels', (scene) => `${talkOf(kind, scene, scene.hushed)}/resource_label_events`, 404],
  ['changes of its state', (scene) => `${talkOf(kind, scene, scene.hushed)}/resource_state_events`, 404],
  [
    'who takes part',
    (scene) => `${hushedAt(scene)}/participants`,
    404,
    { trace: ({ cast }) => cast.owner.username, count: butAdmin },
  ],
  ['what says that it was named there', (scene) => `${talkOf(kind, scene, scene.shown)}/notes`, 0],
  ['discussions that say so', (scene) => `${talkOf(kind, scene, scene.shown)}/discussions`, 0],
  ['to-dos', () => `${root}/todos`, -1],
  ['to-dos that are done', () => `${root}/todos?state=done`, 'nobody'],
  [
    'the count of to-dos',
    () => `${root}/user_counts`,
    -1,
    { count: (b: { todos: number }) => b.todos, trace: () => 'todos' },
  ],
];

const SECRETS = {
  'a confidential issue': {
    kind: 'issue',
    readers: PLANNERS,
    ways: [
      ...LISTED('issue'),
      ['all issues', ({ cast }) => `${root}/issues?scope=all&author_id=${cast.owner.id}`, -1],
      ['issues of the milestone', ({ project, milestone }) => `${project}/milestones/${milestone}/issues`, -1],
      [
        'counts of labels',
        ({ project }) => `${project}/labels?with_counts=true`,
        -1,
        { count: byLabels, trace: () => 'wood' },
      ],
      [
        'counts of labels above',
        ({ group }) => `${group}/labels?with_counts=true`,
        -1,
        { count: byLabels, trace: () => 'wood' },
      ],
      ['what is linked', (scene) => `${shownAt(scene)}/links`, -1],
      ['issues of the epic', ({ group, child }) => `${group}/epics/${child.iid}/issues`, -1],
      ['issues by epic', ({ list, child }) => `${list}?epic_id=${child.id}`, -1],
      ['what the epic says of it', ({ group, child }) => `${group}/epics/${child.id}/notes`, 0],
      ['the feed of the project', ({ project }) => `${project}/events`, -5],
      ['the feed of its author', ({ cast }) => `${root}/users/${cast.owner.id}/events`, -5],
      ['comments in the feed', ({ project }) => `${project}/events?target_type=note`, -2],
    ],
  },
  'a confidential epic': {
    kind: 'epic',
    readers: PLANNERS,
    ways: [
      ...LISTED('epic'),
      ['the list by its alias', ({ group }) => `${group}/-/epics`, -1],
      ['what groups above have, asked below', ({ below }) => `${below}/epics?include_ancestor_groups=true`, -1],
      ['the children of its parent', (scene) => `${shownAt(scene)}/epics`, -1],
      ['the same by another name', (scene) => `${shownAt(scene)}/links`, -1],
      ['its child', ({ list, child }) => `${list}/${child.iid}`, 0],
      ['what its child says of it', ({ list, child }) => `${list}/${child.id}/notes`, 0],
      ['its children', (scene) => `${hushedAt(scene)}/epics`, 404, { trace: () => '"A child"' }],
      ['its issues', (scene) => `${hushedAt(scene)}/issues`, 404],
      ['its issue', ({ project, served }) => `${project}/issues/${served.iid}`, 0],
      ['its issue in lists', ({ project }) => `${project}/issues`, 0],
      ['its issue in lists of groups', ({ group }) => `${group}/issues`, 0],
      ['issues that it has', ({ project, hushed }) => `${project}/issues?epic_id=${hushed.id}`, -1],
      ['issues of the group that it has', ({ group, hushed }) => `${group}/issues?epic_id=${hushed.id}`, -1],
      ['issues that any epic has', ({ project }) => `${project}/issues?epic_id=Any`, -1],
      ['all issues that it has', ({ hushed }) => `${root}/issues?scope=all&epic_id=${hushed.id}`, -1],
      ['what its issue says of it', ({ project, served }) => `${project}/issues/${served.iid}/notes`, 0],
      ['the feed of its author', ({ cast }) => `${root}/users/${cast.owner.id}/events`, 'nobody'],
      ['the feed of the project', ({ project }) => `${project}/events`, 'nobody'],
    ],
  },
  ...internalNotes('issue', [
    [
      'what the issue counts',
      hushedAt,
      -1,
      { count: (b: { user_notes_count: number }) => b.user_notes_count, trace: () => 'iid' },
    ],
    ['the feed of the project', ({ project }) => `${project}/events`, -1],
    ['the feed of who wrote it', ({ cast }) => `${root}/users/${cast.developer.id}/events`, -1],
  ]),
  ...internalNotes('epic', [
    ['the feed of who wrote it', ({ cast }) => `${root}/users/${cast.developer.id}/events`, 'nobody'],
  ]),
} as const satisfies Record<string, { kind: Kind; readers: readonly Who[]; ways: readonly Way[] }>;

function internalNotes<K extends Kind>(kind: K, more: readonly Way[]) {
  const at = (scene: Scene): string => talkOf(kind, scene, scene.hushed);
  const trace = ({ cast }: Scene): string => cast.developer.username;
  const ways: readonly Way[] = [
    ['notes', (scene) => `${at(scene)}/notes`, -1],
    ['comments', (scene) => `${at(scene)}/notes?activity_filter=only_comments`, -1],
    ['the note', (scene) => `${at(scene)}/notes/${scene.note}`, 404],
    ['discussions', (scene) => `${at(scene)}/discussions`, -1],
    ['the discussion', (scene) => `${at(scene)}/discussions/${scene.discussion}`, 404],
    ['the notes of the discussion', (scene) => `${at(scene)}/discussions/${scene.discussion}/notes`, 404],
    ['the note in the discussion', (scene) => `${at(scene)}/discussions/${scene.discussion}/notes/${scene.note}`, 404],
    [
      'emoji of the note',
      (scene) => `${hushedAt(scene)}/notes/${scene.note}/award_emoji`,
      404,
      { trace: () => '"tada"' },
    ],
    ['who takes part', (scene) => `${hushedAt(scene)}/participants`, -3, { trace }],
    ['what is looked for', ({ list }) => `${list}?search=${WORD}`, 'nobody'],
    ['what says that something was named there', (scene) => `${talkOf(kind, scene, scene.shown)}/notes`, 'nobody'],
    ['to-dos', () => `${root}/todos`, -1],
    [
      'the count of to-dos',
      () => `${root}/user_counts`,
      -1,
      { count: (b: { todos: number }) => b.todos, trace: () => 'todos' },
    ],
    ...more,
  ];
  return { [`an internal note on an ${kind}`]: { kind, readers: READERS, ways } } as Record<
    `an internal note on an ${K}`,
    { readonly kind: K; readonly readers: readonly Who[]; readonly ways: readonly Way[] }
  >;
}

let service: SeededService;
const box = mailbox(() => service);
const { as, sceneOf } = secretScenes(() => service, box);
beforeAll(async () => {
  service = await startCollaboration();
  await box.start();
  // Numbers that occur nowhere else.
  for (const [table, from] of [
    ['issues', 71_000],
    ['epics', 72_000],
    ['notes', 73_000],
  ] as const) {
    await service.database.query(`alter sequence ${table}_id_seq restart with ${from}`);
  }
}, 60_000);
afterAll(async () => {
  await box.stop();
  await service.close();
});

const SCENES = Object.keys(SECRETS) as (keyof typeof SECRETS)[];
describe.each(SCENES)('%s', (name) => {
  const { kind, readers, ways } = SECRETS[name] as { kind: Kind; readers: readonly Who[]; ways: readonly Way[] };
  const isNote = name.startsWith('an internal note');
  let scene: Scene;
  let mailed: string[];
  beforeAll(async () => {
    await box.forget();
    scene = await sceneOf(kind, isNote);
    mailed = box
      .mails()
      .filter((mail) => header(mail, `x-platform-note-id`) !== undefined)
      .map((mail) => mail.to.split('@')[0]!);
  }, 120_000);

  const countOf = (answer: Response, { count }: More): number | null =>
    answer.status !== 200
      ? null
      : count
        ? count(answer.body as never, scene)
        : Array.isArray(answer.body)
          ? Number(answer.get('x-total'))
          : null;
  const traceOf = ({ trace }: More): RegExp => {
    const { id, iid } = scene.hushed;
    const marks = isNote ? [WORD, String(scene.note)] : [WORD, String(id), `[#&]${iid}(?!\\d)`];
    return new RegExp(trace ? trace(scene) : marks.join('|'));
  };

  test.each(ways.map((way) => [way[0], way] as const))(
    'is met by its readers only in: %s',
    async (_, [, path, hidden, more = {}]) => {
      const ask = (who: Who) => as(scene.cast, who).get(path(scene));
      const whole = await ask('maintainer');
      expect([whole.status, whole.status === 200 ? '' : whole.text]).toEqual([200, '']);
      for (const who of ROLES) {
        const answer = await ask(who);
        const told = traceOf(more).test(answer.text);
        const count = countOf(answer, more);
        if (who === 'anonymous' && answer.status === 401) {
          expect([who, told]).toEqual([who, false]);
        } else if (hidden === 'nobody') {
          expect([who, answer.status, told]).toEqual([who, 200, false]);
        } else if (readers.includes(who)) {
          expect([who, answer.status, told, count]).toEqual([who, 200, true, countOf(whole, more)]);
        } else if (hidden === 404) {
          expect([who, answer.status, told]).toEqual([who, 404, false]);
        } else {
          const left = countOf(whole, more);
          expect([who, answer.status, count]).toEqual([who, 200, left === null ? null : left + hidden]);
          if (Array.isArray(answer.body) && !more.count) expect([who, answer.body.length]).toEqual([who, count]);
          if (!more.count) expect([who, told]).toEqual([who, false]);
        }
      }
    },
  );

  test('is mailed to its readers only', () => {
    const told = ROLES.filter((who) => who !== 'anonymous' && readers.includes(who)).map(
      (who) => scene.cast[who as keyof Cast],
    );
    const all = isNote ? told.filter((one) => one !== scene.cast.developer) : told;
    const owner = isNote ? [scene.cast.owner] : [];
    expect([...new Set(mailed)].sort()).toEqual(names(...all, ...owner));
  });
});

/** What would tell of a note that is hidden, or change it. Shape: `talk` is where the thing is talked about. */
const ON_NOTE: readonly (readonly [
  name: string,
  Method,
  path: (talk: string, scene: Scene) => string,
  body?: object,
])[] = [
  ['changing it', 'PUT', (talk, { note }) => `${talk}/notes/${note}`, { body: 'x' }],
  ['deleting it', 'DELETE', (talk, { note }) => `${talk}/notes/${note}`],
  ['an answer', 'POST', (talk, { discussion }) => `${talk}/discussions/${discussion}/notes`, { body: 'x' }],
  [
    'an answer of commands',
    'POST',
    (talk, { discussion }) => `${talk}/discussions/${discussion}/notes`,
    { body: '/close' },
  ],
  ['resolving its thread', 'PUT', (talk, { discussion }) => `${talk}/discussions/${discussion}`, { resolved: true }],
  [
    'changing it in its thread',
    'PUT',
    (talk, { discussion, note }) => `${talk}/discussions/${discussion}/notes/${note}`,
    { body: 'x' },
  ],
  [
    'resolving it',
    'PUT',
    (talk, { discussion, note }) => `${talk}/discussions/${discussion}/notes/${note}`,
    { resolved: true },
  ],
  [
    'deleting it from its thread',
    'DELETE',
    (talk, { discussion, note }) => `${talk}/discussions/${discussion}/notes/${note}`,
  ],
  ['its emoji', 'GET', (_, scene) => `${hushedAt(scene)}/notes/${scene.note}/award_emoji`],
  ['an emoji', 'POST', (_, scene) => `${hushedAt(scene)}/notes/${scene.note}/award_emoji`, { name: 'rocket' }],
];

describe.each(['issue', 'epic'] as const)('whoever may not read an internal note on an %s', (kind) => {
  let scene: Scene;
  beforeAll(async () => void (scene = await sceneOf(kind, true)), 120_000);

  const attempts = ON_NOTE.map((attempt) => [attempt[0], attempt] as const);
  test.each(attempts)('changes nothing of it, and hears nothing, by: %s', async (_, [, method, path, body = {}]) => {
    const talk = talkOf(kind, scene, scene.hushed);
    const seen = async (): Promise<unknown> => {
      const paths = [`${talk}/discussions/${scene.discussion}`, `${hushedAt(scene)}/notes/${scene.note}/award_emoji`];
      const answers = paths.map((at) => as(scene.cast, 'owner').get(at).expect(200));
      const { body: thing } = await as(scene.cast, 'owner').get(hushedAt(scene)).expect(200);
      return [
        (thing as { state: string }).state,
        ...(await Promise.all(answers)).map((answer) => answer.body as unknown),
      ];
    };
    const before = await seen();
    for (const who of ROLES.filter((role) => !READERS.includes(role))) {
      const answer = await requestOf(as(scene.cast, who), method, path(talk, scene)).send(body);
      expect([who, answer.status]).toEqual([who, who === 'anonymous' && answer.status === 401 ? 401 : 404]);
      expect([who, answer.text]).toEqual([
        who,
        expect.not.stringMatching(`${WORD}|tada|${scene.cast.developer.username}`),
      ]);
    }
    expect(await seen()).toEqual(before);
  });
});

/** What names a thing that may be hidden. Shape: `named` is the secret, or one that there is not. */
type Attempt = readonly [Method, path: (scene: Scene, named: Thing) => string, body?: (named: Thing) => object];
const below = (kind: Kind): readonly Attempt[] => {
  const one = ({ list }: Scene, { iid }: Thing): string => `${list}/${iid}`;
  const talk = (scene: Scene, named: Thing): string => talkOf(kind, scene, named);
  return [
    ['GET', one],
    ['PUT', one, () => ({ title: 'x' })],
    ['DELETE', one],
    ...['/participants', '/award_emoji'].map((tail): Attempt => ['GET', (s, n) => one(s, n) + tail]),
    ...['/todo', '/subscribe', '/unsubscribe'].map((tail): Attempt => ['POST', (s, n) => one(s, n) + tail]),
    ['POST', (s, n) => `${one(s, n)}/award_emoji`, () => ({ name: 'tada' })],
    ...['/notes', '/discussions', '/resource_label_events', '/resource_state_events'].map((tail): Attempt => [
      'GET',
      (s, n) => talk(s, n) + tail,
    ]),
    ...['/notes', '/discussions'].map((tail): Attempt => [
      'POST',
      (s, n) => talk(s, n) + tail,
      () => ({ body: '/close' }),
    ]),
    ['GET', (s, n) => `${talk(s, n)}/notes/${s.note}`],
    ['PUT', (s, n) => `${talk(s, n)}/notes/${s.note}`, () => ({ body: 'x' })],
    ['DELETE', (s, n) => `${talk(s, n)}/notes/${s.note}`],
    ['POST', (s, n) => `${talk(s, n)}/discussions/${s.discussion}/notes`, () => ({ body: 'x' })],
    ['POST', (s, n) => `${one(s, n)}/notes/${s.note}/award_emoji`, () => ({ name: 'tada' })],
  ];
};
const say =
  (body: (named: Thing) => string) =>
  (named: Thing): object => ({ body: body(named) });
const ATTEMPTS: Readonly<Record<Kind, readonly Attempt[]>> = {
  issue: [
    ...below('issue'),
    ...['/links', '/time_stats', '/closed_by', '/related_merge_requests', '/resource_weight_events'].map(
      (tail): Attempt => ['GET', ({ list }, { iid }) => `${list}/${iid}${tail}`],
    ),
    ['POST', ({ list }, { iid }) => `${list}/${iid}/move`, () => ({ to_project_id: 1 })],
    ['POST', ({ list }, { iid }) => `${list}/${iid}/add_spent_time`, () => ({ duration: '1h' })],
    ['POST', (s) => `${shownAt(s)}/links`, ({ iid }) => ({ target_issue_iid: iid })],
    ['POST', (s, { id }) => `${s.group}/epics/${s.child.iid}/issues/${id}`],
    ['POST', (s) => `${shownAt(s)}/notes`, say(({ iid }) => `/relate #${iid}`)],
    ['POST', (s) => `${shownAt(s)}/notes`, say(({ iid }) => `/duplicate #${iid}`)],
  ],
  epic: [
    ...below('epic'),
    ...['/epics', '/links', '/issues'].map((tail): Attempt => ['GET', ({ list }, { iid }) => `${list}/${iid}${tail}`]),
    ['POST', ({ list }, { iid }) => `${list}/${iid}/epics`, () => ({ title: 'x' })],
    ['POST', (s, { iid }) => `${s.list}/${iid}/epics/${s.child.id}`],
    ['POST', (s, { iid }) => `${s.list}/${iid}/issues/${s.served.id}`],
    ['POST', (s, { id }) => `${shownAt(s)}/epics/${id}`],
    ['DELETE', (s, { id }) => `${shownAt(s)}/epics/${id}`],
    ['PUT', (s) => shownAt(s), ({ id }) => ({ parent_id: id })],
    ['PUT', (s) => `${s.project}/issues/${s.served.iid}`, ({ id }) => ({ epic_id: id })],
    ['POST', (s) => `${s.project}/issues`, ({ id }) => ({ title: 'x', epic_id: id })],
    ['POST', (s) => `${talkOf('epic', s, s.shown)}/notes`, say(({ iid }) => `/child_epic &${iid}`)],
    ['POST', (s) => `${talkOf('epic', s, s.shown)}/notes`, say(({ iid }) => `/parent_epic &${iid}`)],
    ['POST', (s) => `${s.project}/issues/${s.served.iid}/notes`, say(({ iid }) => `/epic &${iid}`)],
  ],
};

describe.each(Object.keys(ATTEMPTS) as Kind[])('whoever may not know of an %s', (kind) => {
  let scene: Scene;
  beforeAll(async () => void (scene = await sceneOf(kind, false)), 120_000);
  const attempts = ATTEMPTS[kind].map((attempt) => [attempt[0], attempt] as const);
  test.each(attempts)(
    'hears by %s what they hear where there is nothing',
    async (method, [, path, body = () => ({})]) => {
      const missing: Thing = { id: 999_998, iid: 999_997 };
      for (const who of ['anonymous', 'stranger', 'external', 'guest'] as const) {
        const hear = async (named: Thing): Promise<unknown> => {
          const { status, text } = await requestOf(as(scene.cast, who), method, path(scene, named)).send(body(named));
          return [
            path(scene, missing),
            who,
            status,
            text.replaceAll(String(named.iid), 'IID').replaceAll(String(named.id), 'ID'),
          ];
        };
        expect(await hear(scene.hushed)).toEqual(await hear(missing));
      }
    },
  );
});
