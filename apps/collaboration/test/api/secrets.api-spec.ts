import { requestOf } from '@rookery/testing';
import type { Method, SeededService } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { header, mailbox, names } from '../support/mailbox';
import { secretPath, ROLES, root, secretScenes, visiblePath, notesParentOf, WORD } from '../support/secret-scenes';
import type { Kind, Scene, Target, Who } from '../support/secret-scenes';

/**
 * Fetches one secret through every route as every role: for callers who cannot read it, answers contain no part of it, no
 * row and no count, and equal the answers for a missing target. Source: reference work-tracking 2.4, 5.1, 9.1.
 */
const READERS: readonly Who[] = ['reporter', 'developer', 'maintainer', 'admin'];
const PLANNERS: readonly Who[] = ['planner', ...READERS];

/**
 * A route that could reveal the secret, with its path. `hidden` is 404, or how many rows fewer (or how much smaller a count)
 * the viewer gets without the secret; `nobody` means that even readers do not see it there.
 */
type Way = readonly [name: string, path: (scene: Scene) => string, hidden: number | 'nobody', more?: More];
interface More {
  readonly count?: (body: never, scene: Scene) => number;
  /** The text that reveals it, if it is neither the word nor a number. */
  readonly mark?: (scene: Scene) => string;
}

const openIssuesOfFirstLabel = (body: readonly { readonly open_issues_count: number }[]): number =>
  body[0]!.open_issues_count;

/** Number of listed users without the administrator, who is not listed for users other than administrators. */
const countWithoutAdmin = (people: readonly { readonly id: number }[], { cast }: Scene): number =>
  people.filter(({ id }) => id !== cast.admin.id).length;

const waysToList = (kind: Kind): readonly Way[] => [
  ['the list', ({ list }) => list, -1],
  ['a search', ({ list }) => `${list}?search=${WORD}`, -1],
  ['confidential ones', ({ list }) => `${list}?confidential=true`, -1],
  ['those with its label', ({ list }) => `${list}?labels=wood`, -1],
  ['those without another label', ({ list }) => `${list}?not[labels]=iron`, -1],
  ['those of its author', ({ list, cast }) => `${list}?author_id=${cast.owner.id}&state=opened`, -1],
  ['those of its group', ({ group }) => `${group}/${kind}s`, -1],
  ['those of ancestor groups', ({ above }) => `${above}/${kind}s?search=${WORD}`, -1],
  ['the target', secretPath, 404],
  ['its notes', (scene) => `${notesParentOf(kind, scene, scene.secret)}/notes`, 404],
  ['its note', (scene) => `${notesParentOf(kind, scene, scene.secret)}/notes/${scene.note}`, 404],
  ['its discussions', (scene) => `${notesParentOf(kind, scene, scene.secret)}/discussions`, 404],
  ['its emoji', (scene) => `${secretPath(scene)}/award_emoji`, 404],
  ['its emoji, one', (scene) => `${secretPath(scene)}/award_emoji/${scene.award}`, 404, { mark: () => '"tada"' }],
  [
    'emoji of its note',
    (scene) => `${secretPath(scene)}/notes/${scene.note}/award_emoji`,
    404,
    { mark: () => '"tada"' },
  ],
  ['changes of its labels', (scene) => `${notesParentOf(kind, scene, scene.secret)}/resource_label_events`, 404],
  ['changes of its state', (scene) => `${notesParentOf(kind, scene, scene.secret)}/resource_state_events`, 404],
  [
    'participants',
    (scene) => `${secretPath(scene)}/participants`,
    404,
    { mark: ({ cast }) => cast.owner.username, count: countWithoutAdmin },
  ],
  ['system notes about its reference', (scene) => `${notesParentOf(kind, scene, scene.visible)}/notes`, 0],
  ['discussions about its reference', (scene) => `${notesParentOf(kind, scene, scene.visible)}/discussions`, 0],
  ['to-dos', () => `${root}/todos`, -1],
  ['to-dos that are done', () => `${root}/todos?state=done`, 'nobody'],
  [
    'the count of to-dos',
    () => `${root}/user_counts`,
    -1,
    { count: (b: { todos: number }) => b.todos, mark: () => 'todos' },
  ],
];

const SECRETS = {
  'a confidential issue': {
    kind: 'issue',
    readers: PLANNERS,
    ways: [
      ...waysToList('issue'),
      ['all issues', ({ cast }) => `${root}/issues?scope=all&author_id=${cast.owner.id}`, -1],
      ['issues of the milestone', ({ project, milestone }) => `${project}/milestones/${milestone}/issues`, -1],
      [
        'counts of labels',
        ({ project }) => `${project}/labels?with_counts=true`,
        -1,
        { count: openIssuesOfFirstLabel, mark: () => 'wood' },
      ],
      [
        'counts of labels above',
        ({ group }) => `${group}/labels?with_counts=true`,
        -1,
        { count: openIssuesOfFirstLabel, mark: () => 'wood' },
      ],
      ['links', (scene) => `${visiblePath(scene)}/links`, -1],
      ['issues of the epic', ({ group, child }) => `${group}/epics/${child.iid}/issues`, -1],
      ['issues by epic', ({ list, child }) => `${list}?epic_id=${child.id}`, -1],
      ['notes of the epic about it', ({ group, child }) => `${group}/epics/${child.id}/notes`, 0],
      ['the feed of the project', ({ project }) => `${project}/events`, -5],
      ['the feed of its author', ({ cast }) => `${root}/users/${cast.owner.id}/events`, -5],
      ['comments in the feed', ({ project }) => `${project}/events?target_type=note`, -2],
    ],
  },
  'a confidential epic': {
    kind: 'epic',
    readers: PLANNERS,
    ways: [
      ...waysToList('epic'),
      ['the list by its alias', ({ group }) => `${group}/-/epics`, -1],
      ['the list of a subgroup with ancestor groups', ({ below }) => `${below}/epics?include_ancestor_groups=true`, -1],
      ['the children of its parent', (scene) => `${visiblePath(scene)}/epics`, -1],
      ['children by the alias path', (scene) => `${visiblePath(scene)}/links`, -1],
      ['its child', ({ list, child }) => `${list}/${child.iid}`, 0],
      ['notes of its child about it', ({ list, child }) => `${list}/${child.id}/notes`, 0],
      ['its children', (scene) => `${secretPath(scene)}/epics`, 404, { mark: () => '"A child"' }],
      ['its issues', (scene) => `${secretPath(scene)}/issues`, 404],
      ['its issue', ({ project, epicIssue }) => `${project}/issues/${epicIssue.iid}`, 0],
      ['its issue in lists', ({ project }) => `${project}/issues`, 0],
      ['its issue in lists of groups', ({ group }) => `${group}/issues`, 0],
      ['issues filtered by it', ({ project, secret }) => `${project}/issues?epic_id=${secret.id}`, -1],
      ['issues of the group filtered by it', ({ group, secret }) => `${group}/issues?epic_id=${secret.id}`, -1],
      ['issues with any epic', ({ project }) => `${project}/issues?epic_id=Any`, -1],
      ['all issues filtered by it', ({ secret }) => `${root}/issues?scope=all&epic_id=${secret.id}`, -1],
      ['notes of its issue about it', ({ project, epicIssue }) => `${project}/issues/${epicIssue.iid}/notes`, 0],
      ['the feed of its author', ({ cast }) => `${root}/users/${cast.owner.id}/events`, 'nobody'],
      ['the feed of the project', ({ project }) => `${project}/events`, 'nobody'],
    ],
  },
  ...internalNotes('issue', [
    [
      'the note count of the issue',
      secretPath,
      -1,
      { count: (b: { user_notes_count: number }) => b.user_notes_count, mark: () => 'iid' },
    ],
    ['the feed of the project', ({ project }) => `${project}/events`, -1],
    ['the feed of its author', ({ cast }) => `${root}/users/${cast.developer.id}/events`, -1],
  ]),
  ...internalNotes('epic', [
    ['the feed of its author', ({ cast }) => `${root}/users/${cast.developer.id}/events`, 'nobody'],
  ]),
} as const satisfies Record<string, { kind: Kind; readers: readonly Who[]; ways: readonly Way[] }>;

function internalNotes<K extends Kind>(kind: K, more: readonly Way[]) {
  const at = (scene: Scene): string => notesParentOf(kind, scene, scene.secret);
  const authorName = ({ cast }: Scene): string => cast.developer.username;
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
      (scene) => `${secretPath(scene)}/notes/${scene.note}/award_emoji`,
      404,
      { mark: () => '"tada"' },
    ],
    ['participants', (scene) => `${secretPath(scene)}/participants`, -3, { mark: authorName }],
    ['a search', ({ list }) => `${list}?search=${WORD}`, 'nobody'],
    ['system notes about a reference', (scene) => `${notesParentOf(kind, scene, scene.visible)}/notes`, 'nobody'],
    ['to-dos', () => `${root}/todos`, -1],
    [
      'the count of to-dos',
      () => `${root}/user_counts`,
      -1,
      { count: (b: { todos: number }) => b.todos, mark: () => 'todos' },
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
  // Distinctive ids.
  for (const [table, from] of [
    ['issues', 71_000],
    ['epics', 72_000],
    ['notes', 73_000],
  ] as const) {
    await service.database.query(`alter sequence ${table}_id_seq restart with ${from}`);
  }
});
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
    await box.clear();
    scene = await sceneOf(kind, isNote);
    mailed = box
      .mails()
      .filter((mail) => header(mail, `x-platform-note-id`) !== undefined)
      .map((mail) => mail.to.split('@')[0]!);
  });

  const countOf = (answer: Response, { count }: More): number | null =>
    answer.status !== 200
      ? null
      : count
        ? count(answer.body as never, scene)
        : Array.isArray(answer.body)
          ? Number(answer.get('x-total'))
          : null;
  const markOf = ({ mark }: More): RegExp => {
    const { id, iid } = scene.secret;
    const marks = isNote ? [WORD, String(scene.note)] : [WORD, String(id), `[#&]${iid}(?!\\d)`];
    return new RegExp(mark ? mark(scene) : marks.join('|'));
  };

  test.each(ways.map((way) => [way[0], way] as const))(
    'is visible only to its readers in: %s',
    async (_, [, path, hidden, more = {}]) => {
      const ask = (who: Who) => as(scene.cast, who).get(path(scene));
      const whole = await ask('maintainer');
      expect([whole.status, whole.status === 200 ? '' : whole.text]).toEqual([200, '']);
      for (const who of ROLES) {
        const answer = await ask(who);
        const isMarked = markOf(more).test(answer.text);
        const count = countOf(answer, more);
        if (who === 'anonymous' && answer.status === 401) {
          expect([who, isMarked]).toEqual([who, false]);
        } else if (hidden === 'nobody') {
          expect([who, answer.status, isMarked]).toEqual([who, 200, false]);
        } else if (readers.includes(who)) {
          expect([who, answer.status, isMarked, count]).toEqual([who, 200, true, countOf(whole, more)]);
        } else if (hidden === 404) {
          expect([who, answer.status, isMarked]).toEqual([who, 404, false]);
        } else {
          const left = countOf(whole, more);
          expect([who, answer.status, count]).toEqual([who, 200, left === null ? null : left + hidden]);
          if (Array.isArray(answer.body) && !more.count) expect([who, answer.body.length]).toEqual([who, count]);
          if (!more.count) expect([who, isMarked]).toEqual([who, false]);
        }
      }
    },
  );

  test('is sent in e-mails only to its readers', () => {
    const recipients = ROLES.filter((who) => who !== 'anonymous' && readers.includes(who)).map(
      (who) => scene.cast[who as keyof Cast],
    );
    const all = isNote ? recipients.filter((one) => one !== scene.cast.developer) : recipients;
    const owner = isNote ? [scene.cast.owner] : [];
    expect([...new Set(mailed)].sort()).toEqual(names(...all, ...owner));
  });
});

/** Requests that would reveal or change a hidden note. `parent` is the path below which the notes are. */
const ON_NOTE: readonly (readonly [
  name: string,
  Method,
  path: (parent: string, scene: Scene) => string,
  body?: object,
])[] = [
  ['changing it', 'PUT', (parent, { note }) => `${parent}/notes/${note}`, { body: 'x' }],
  ['deleting it', 'DELETE', (parent, { note }) => `${parent}/notes/${note}`],
  ['an answer', 'POST', (parent, { discussion }) => `${parent}/discussions/${discussion}/notes`, { body: 'x' }],
  [
    'an answer of commands',
    'POST',
    (parent, { discussion }) => `${parent}/discussions/${discussion}/notes`,
    { body: '/close' },
  ],
  [
    'resolving its thread',
    'PUT',
    (parent, { discussion }) => `${parent}/discussions/${discussion}`,
    { resolved: true },
  ],
  [
    'changing it in its thread',
    'PUT',
    (parent, { discussion, note }) => `${parent}/discussions/${discussion}/notes/${note}`,
    { body: 'x' },
  ],
  [
    'resolving it',
    'PUT',
    (parent, { discussion, note }) => `${parent}/discussions/${discussion}/notes/${note}`,
    { resolved: true },
  ],
  [
    'deleting it from its thread',
    'DELETE',
    (parent, { discussion, note }) => `${parent}/discussions/${discussion}/notes/${note}`,
  ],
  ['its emoji', 'GET', (_, scene) => `${secretPath(scene)}/notes/${scene.note}/award_emoji`],
  ['an emoji', 'POST', (_, scene) => `${secretPath(scene)}/notes/${scene.note}/award_emoji`, { name: 'rocket' }],
];

describe.each(['issue', 'epic'] as const)('a caller who cannot read an internal note on an %s', (kind) => {
  let scene: Scene;
  beforeAll(async () => void (scene = await sceneOf(kind, true)), 120_000);

  const attempts = ON_NOTE.map((attempt) => [attempt[0], attempt] as const);
  test.each(attempts)('neither changes nor sees it by: %s', async (_, [, method, path, body = {}]) => {
    const parent = notesParentOf(kind, scene, scene.secret);
    const seen = async (): Promise<unknown> => {
      const paths = [
        `${parent}/discussions/${scene.discussion}`,
        `${secretPath(scene)}/notes/${scene.note}/award_emoji`,
      ];
      const answers = paths.map((at) => as(scene.cast, 'owner').get(at).expect(200));
      const { body: target } = await as(scene.cast, 'owner').get(secretPath(scene)).expect(200);
      return [
        (target as { state: string }).state,
        ...(await Promise.all(answers)).map((answer) => answer.body as unknown),
      ];
    };
    const before = await seen();
    for (const who of ROLES.filter((role) => !READERS.includes(role))) {
      const answer = await requestOf(as(scene.cast, who), method, path(parent, scene)).send(body);
      expect([who, answer.status]).toEqual([who, who === 'anonymous' && answer.status === 401 ? 401 : 404]);
      expect([who, answer.text]).toEqual([
        who,
        expect.not.stringMatching(`${WORD}|tada|${scene.cast.developer.username}`),
      ]);
    }
    expect(await seen()).toEqual(before);
  });
});

/** Requests that refer to a target that may be hidden. `named` is the secret, or a missing target. */
type Attempt = readonly [Method, path: (scene: Scene, named: Target) => string, body?: (named: Target) => object];
const attemptsBelow = (kind: Kind): readonly Attempt[] => {
  const one = ({ list }: Scene, { iid }: Target): string => `${list}/${iid}`;
  const parent = (scene: Scene, named: Target): string => notesParentOf(kind, scene, named);
  return [
    ['GET', one],
    ['PUT', one, () => ({ title: 'x' })],
    ['DELETE', one],
    ...['/participants', '/award_emoji'].map((tail): Attempt => ['GET', (s, n) => one(s, n) + tail]),
    ...['/todo', '/subscribe', '/unsubscribe'].map((tail): Attempt => ['POST', (s, n) => one(s, n) + tail]),
    ['POST', (s, n) => `${one(s, n)}/award_emoji`, () => ({ name: 'tada' })],
    ...['/notes', '/discussions', '/resource_label_events', '/resource_state_events'].map((tail): Attempt => [
      'GET',
      (s, n) => parent(s, n) + tail,
    ]),
    ...['/notes', '/discussions'].map((tail): Attempt => [
      'POST',
      (s, n) => parent(s, n) + tail,
      () => ({ body: '/close' }),
    ]),
    ['GET', (s, n) => `${parent(s, n)}/notes/${s.note}`],
    ['PUT', (s, n) => `${parent(s, n)}/notes/${s.note}`, () => ({ body: 'x' })],
    ['DELETE', (s, n) => `${parent(s, n)}/notes/${s.note}`],
    ['POST', (s, n) => `${parent(s, n)}/discussions/${s.discussion}/notes`, () => ({ body: 'x' })],
    ['POST', (s, n) => `${one(s, n)}/notes/${s.note}/award_emoji`, () => ({ name: 'tada' })],
  ];
};
const noteBody =
  (body: (named: Target) => string) =>
  (named: Target): object => ({ body: body(named) });
const ATTEMPTS: Readonly<Record<Kind, readonly Attempt[]>> = {
  issue: [
    ...attemptsBelow('issue'),
    ...['/links', '/time_stats', '/closed_by', '/related_merge_requests', '/resource_weight_events'].map(
      (tail): Attempt => ['GET', ({ list }, { iid }) => `${list}/${iid}${tail}`],
    ),
    ['POST', ({ list }, { iid }) => `${list}/${iid}/move`, () => ({ to_project_id: 1 })],
    ['POST', ({ list }, { iid }) => `${list}/${iid}/add_spent_time`, () => ({ duration: '1h' })],
    ['POST', (s) => `${visiblePath(s)}/links`, ({ iid }) => ({ target_issue_iid: iid })],
    ['POST', (s, { id }) => `${s.group}/epics/${s.child.iid}/issues/${id}`],
    ['POST', (s) => `${visiblePath(s)}/notes`, noteBody(({ iid }) => `/relate #${iid}`)],
    ['POST', (s) => `${visiblePath(s)}/notes`, noteBody(({ iid }) => `/duplicate #${iid}`)],
  ],
  epic: [
    ...attemptsBelow('epic'),
    ...['/epics', '/links', '/issues'].map((tail): Attempt => ['GET', ({ list }, { iid }) => `${list}/${iid}${tail}`]),
    ['POST', ({ list }, { iid }) => `${list}/${iid}/epics`, () => ({ title: 'x' })],
    ['POST', (s, { iid }) => `${s.list}/${iid}/epics/${s.child.id}`],
    ['POST', (s, { iid }) => `${s.list}/${iid}/issues/${s.epicIssue.id}`],
    ['POST', (s, { id }) => `${visiblePath(s)}/epics/${id}`],
    ['DELETE', (s, { id }) => `${visiblePath(s)}/epics/${id}`],
    ['PUT', (s) => visiblePath(s), ({ id }) => ({ parent_id: id })],
    ['PUT', (s) => `${s.project}/issues/${s.epicIssue.iid}`, ({ id }) => ({ epic_id: id })],
    ['POST', (s) => `${s.project}/issues`, ({ id }) => ({ title: 'x', epic_id: id })],
    ['POST', (s) => `${notesParentOf('epic', s, s.visible)}/notes`, noteBody(({ iid }) => `/child_epic &${iid}`)],
    ['POST', (s) => `${notesParentOf('epic', s, s.visible)}/notes`, noteBody(({ iid }) => `/parent_epic &${iid}`)],
    ['POST', (s) => `${s.project}/issues/${s.epicIssue.iid}/notes`, noteBody(({ iid }) => `/epic &${iid}`)],
  ],
};

describe.each(Object.keys(ATTEMPTS) as Kind[])('a caller who cannot read an %s', (kind) => {
  let scene: Scene;
  beforeAll(async () => void (scene = await sceneOf(kind, false)), 120_000);
  const attempts = ATTEMPTS[kind].map((attempt) => [attempt[0], attempt] as const);
  test.each(attempts)('gets for %s the answer for a missing target', async (method, [, path, body = () => ({})]) => {
    const missing: Target = { id: 999_998, iid: 999_997 };
    for (const who of ['anonymous', 'stranger', 'external', 'guest'] as const) {
      const ask = async (named: Target): Promise<unknown> => {
        const { status, text } = await requestOf(as(scene.cast, who), method, path(scene, named)).send(body(named));
        return [
          path(scene, missing),
          who,
          status,
          text.replaceAll(String(named.iid), 'IID').replaceAll(String(named.id), 'ID'),
        ];
      };
      expect(await ask(scene.secret)).toEqual(await ask(missing));
    }
  });
});
