import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { Visibility } from '@rookery/kernel';
import { VISIBILITIES } from '@rookery/kernel';
import {
  anonymousViewer,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  registerVisibilityTests,
} from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { NOTIFICATION_LEVELS } from '../../src/following/notification-settings/notification-levels';
import { SWITCH_NAMES } from '../../src/following/notification-settings/notification-switches';
import { AccountFacts } from '../support/account-facts';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';

const identity = new AccountFacts();
let service: SeededService;
/** The address that identity holds for each user, and the confirmed ones of all users. */
const chosen = new Map<number, string>();
const CONFIRMED = ['first@mail.example', 'second@mail.example'];
beforeAll(async () => {
  identity.choose = ({ user_id: id, email }) => {
    const isVerified = email === null || CONFIRMED.includes(email);
    if (isVerified && email !== null) chosen.set(id, email);
    return { outcome: isVerified ? 'chosen' : 'not_verified', email: chosen.get(id) ?? CONFIRMED[0]! };
  };
  await identity.listen();
  service = await startCollaboration({ IDENTITY_URL: identity.url });
});
afterAll(async () => {
  await service.close();
  await identity.close();
});

const PLACES = ['global', 'group', 'project'] as const;
type Place = (typeof PLACES)[number];
interface GroupProjectAndCast {
  readonly group: DirectoryNamespace;
  readonly project: DirectoryProject;
  readonly cast: Cast;
}
const createHome = async (
  level: Visibility = 'private',
  plan: 'premium' | 'ultimate' = 'ultimate',
): Promise<GroupProjectAndCast> => {
  const group = await service.seed.group({ visibility: level, plan });
  const project = await service.seed.project({ namespace_id: group.id, visibility: level });
  return { group, project, cast: await castOf(service.seed, group) };
};
const pathOf = (place: Place, { group, project }: GroupProjectAndCast): string =>
  place === 'global'
    ? '/api/v4/notification_settings'
    : `/api/v4/${place}s/${place === 'group' ? group.id : project.id}/notification_settings`;
const viewer = (user: SeededUser) => service.seed.viewer(user);

let home: GroupProjectAndCast;
beforeAll(async () => void (home = await createHome()));
const anyUser = async (): Promise<SeededUser> => {
  const user = await service.seed.user();
  await service.seed.member(user, home.group, 'guest');
  return user;
};
const settingsClient = (user: SeededUser, place: Place, at = home) => {
  const client = service.app.as(viewer(user));
  return {
    show: async () => (await client.get(pathOf(place, at)).expect(200)).body as Record<string, unknown>,
    put: async (params: object) =>
      (await client.put(pathOf(place, at)).send(params).expect(200)).body as Record<string, unknown>,
    refuse: async (params: object) => {
      const { status, body } = await client.put(pathOf(place, at)).send(params);
      return [status, body];
    },
  };
};
const shown = (place: Place, level: string, events?: object) => ({
  level,
  ...(place === 'global' ? { notification_email: CONFIRMED[0] } : {}),
  ...(events ? { events } : {}),
});
const ON_AT_FIRST = ['failed_pipeline', 'fixed_pipeline', 'moved_project'];
const SHOWN_SWITCHES: Record<Place, string[]> = {
  global: SWITCH_NAMES,
  group: SWITCH_NAMES,
  project: SWITCH_NAMES.filter((name) => name !== 'new_epic'),
};
const expectedSwitches = (place: Place, over: Record<string, boolean> = {}) => ({
  ...Object.fromEntries(SHOWN_SWITCHES[place].map((name) => [name, ON_AT_FIRST.includes(name)])),
  ...over,
});

describe.each(PLACES)('the %s setting', (place) => {
  test('is the default one at first, and PUT without fields keeps it', async () => {
    const user = await anyUser();
    const expected = shown(place, place === 'global' ? 'participating' : 'global');
    expect(await settingsClient(user, place).show()).toEqual(expected);
    expect(await settingsClient(user, place).put({})).toEqual(expected);
    expect(await settingsClient(user, place).put({ level: null, new_note: null, unknown_switch: true })).toEqual(
      expected,
    );
    expect(await settingsClient(user, place).show()).toEqual(expected);
  });

  test.each(NOTIFICATION_LEVELS)('takes the level %s, and has switches only while it is custom', async (level) => {
    const user = await anyUser();
    const expected = shown(place, level, level === 'custom' ? expectedSwitches(place) : undefined);
    expect(await settingsClient(user, place).put({ level })).toEqual(expected);
    expect(await settingsClient(user, place).show()).toEqual(expected);
    // Other places and other users keep their own.
    for (const other of PLACES.filter((one) => one !== place))
      expect(await settingsClient(user, other).show()).toEqual(
        shown(other, other === 'global' ? 'participating' : 'global'),
      );
    expect((await settingsClient(await anyUser(), place).show())['level']).not.toBe(
      level === 'watch' ? 'watch' : 'custom',
    );
  });

  test.each(SWITCH_NAMES)('keeps the switch %s while the level is another', async (name) => {
    const user = await anyUser();
    const isShown = SHOWN_SWITCHES[place].includes(name);
    for (const value of [true, false]) {
      expect(await settingsClient(user, place).put({ level: 'watch', [name]: value })).toEqual(shown(place, 'watch'));
      const expected = shown(place, 'custom', expectedSwitches(place, isShown ? { [name]: value } : {}));
      expect(await settingsClient(user, place).put({ level: 'custom' })).toEqual(expected);
      expect(await settingsClient(user, place).show()).toEqual(expected);
    }
  });

  test('changes one switch without the level and the others', async () => {
    const user = await anyUser();
    await settingsClient(user, place).put({ level: 'custom', new_note: true });
    const both = shown(place, 'custom', expectedSwitches(place, { new_note: true, new_issue: true }));
    expect(await settingsClient(user, place).put({ new_issue: true })).toEqual(both);
    expect(await settingsClient(user, place).put({ failed_pipeline: false })).toEqual(
      shown(place, 'custom', expectedSwitches(place, { new_note: true, new_issue: true, failed_pipeline: false })),
    );
  });

  test('loses no switch to concurrent requests', async () => {
    const user = await anyUser();
    await settingsClient(user, place).put({ level: 'custom' });
    const names = ['new_note', 'new_issue', 'close_issue', 'reopen_issue', 'reassign_issue'];
    await Promise.all(names.map((name) => settingsClient(user, place).put({ [name]: true })));
    const all = Object.fromEntries(names.map((name) => [name, true]));
    expect(await settingsClient(user, place).show()).toEqual(shown(place, 'custom', expectedSwitches(place, all)));
  });

  test.each([
    [{ level: 'loud' }, { message: "'loud' is not a valid level" }],
    [{ level: '' }, { message: "'' is not a valid level" }],
    [{ level: 'Watch' }, { message: "'Watch' is not a valid level" }],
    [{ level: ['watch'] }, { error: 'level is invalid' }],
    [{ new_note: 'perhaps' }, { error: 'new_note is invalid' }],
    [{ new_note: 'x', close_issue: 7 }, { error: 'new_note is invalid, close_issue is invalid' }],
  ])('refuses %j', async (params, body) => {
    const user = await anyUser();
    expect(await settingsClient(user, place).refuse(params)).toEqual([400, body]);
    expect(await settingsClient(user, place).show()).toEqual(
      shown(place, place === 'global' ? 'participating' : 'global'),
    );
  });

  test('requires a token', async () => {
    const client = service.app.as(anonymousViewer());
    for (const request of [client.get(pathOf(place, home)), client.put(pathOf(place, home)).send({ level: 'loud' })]) {
      const { status, body } = await request;
      expect([status, body]).toEqual([401, { message: '401 Unauthorized' }]);
    }
  });

  registerParameterEncodingTests({
    app: () => service.app,
    to: async () => {
      const params = { level: 'custom', new_note: true, failed_pipeline: false };
      return { viewer: viewer(await anyUser()), method: 'PUT', path: pathOf(place, home), params };
    },
    seen: (body) => body,
    expected: shown(place, 'custom', expectedSwitches(place, { new_note: true, failed_pipeline: false })),
  });
});

describe('the address', () => {
  test('is one of the confirmed ones of the user', async () => {
    const user = await anyUser();
    const settings = settingsClient(user, 'global');
    const second = { level: 'mention', notification_email: CONFIRMED[1] };
    expect(await settings.put(second)).toEqual(second);
    expect(await settings.show()).toEqual(second);
    expect(await settings.put({ level: 'watch' })).toEqual({ ...second, level: 'watch' });
  });

  test.each(['else@mail.example', '', 'second@mail.example '])('is not %j, and nothing changes', async (email) => {
    const settings = settingsClient(await anyUser(), 'global');
    expect(await settings.refuse({ level: 'watch', notification_email: email })).toEqual([
      400,
      { message: { notification_email: ['must be an email you have verified'] } },
    ]);
    expect(await settings.show()).toEqual(shown('global', 'participating'));
  });

  test('does not change when the level is refused', async () => {
    const settings = settingsClient(await anyUser(), 'global');
    await settings.refuse({ level: 'loud', notification_email: CONFIRMED[1] });
    expect(await settings.show()).toEqual(shown('global', 'participating'));
  });

  test.each(['group', 'project'] as const)('is not part of the setting of a %s', async (place) => {
    const user = await anyUser();
    expect(await settingsClient(user, place).put({ notification_email: 'else@mail.example' })).toEqual(
      shown(place, 'global'),
    );
  });

  test('cannot be read while identity is away, but settings of places can', async () => {
    const away = await service.again({ IDENTITY_URL: 'http://127.0.0.1:9' });
    try {
      const client = away.as(viewer(await anyUser()));
      for (const request of [client.get(pathOf('global', home)), client.put(pathOf('global', home)).send({})])
        expect((await request).status).toBe(503);
      await client.get(pathOf('project', home)).expect(200);
    } finally {
      await away.close();
    }
  });
});

test('the switch for epics depends on the plan of the group', async () => {
  for (const [plan, has] of [
    ['ultimate', true],
    ['premium', false],
  ] as const) {
    const at = await createHome('private', plan);
    const { events: of } = await settingsClient(at.cast.guest, 'group', at).put({ level: 'custom', new_epic: true });
    expect([plan, 'new_epic' in (of as object)]).toEqual([plan, has]);
  }
});

describe.each(['group', 'project'] as const)('a %s', (place) => {
  const homes = new Map<Visibility, GroupProjectAndCast>();
  beforeAll(async () => {
    for (const level of VISIBILITIES) homes.set(level, await createHome(level));
  });
  describe.each(['GET', 'PUT'] as const)('%s', (method) => {
    registerVisibilityTests({
      app: () => service.app,
      from: (level, standing) => {
        const at = homes.get(level)!;
        const who = (standing === 'outsider' ? 'stranger' : standing) as keyof Cast | 'anonymous';
        const path = pathOf(place, at);
        return {
          viewer: who === 'anonymous' ? anonymousViewer() : viewer(at.cast[who]),
          path,
          method,
          ...(method === 'PUT' ? { body: { level: 'watch' } } : {}),
        };
      },
      anonymous: 401,
    });
  });

  registerRefusalOrderTests(
    () => service.app,
    () => ({
      method: 'PUT',
      path: pathOf(place, home),
      good: { level: 'watch' },
      bad: { new_note: 'perhaps' },
      anonymous: anonymousViewer(),
      outsider: viewer(home.cast.stranger),
      allowed: viewer(home.cast.guest),
    }),
  );

  test('is found by id and by encoded path, ignoring case', async () => {
    const user = await anyUser();
    const full = place === 'group' ? home.group.full_path : `${home.group.full_path}/${home.project.path}`;
    const client = service.app.as(viewer(user));
    for (const path of [full, full.toUpperCase()]) {
      const url = `/api/v4/${place}s/${encodeURIComponent(path)}/notification_settings`;
      await client.put(url).send({ level: 'mention' }).expect(200);
      expect((await client.get(url).expect(200)).body).toEqual({ level: 'mention' });
    }
    const { status, body } = await client.get(`/api/v4/${place}s/99999999/notification_settings`);
    const name = place === 'group' ? 'Group' : 'Project';
    expect([status, body]).toEqual([404, { message: `404 ${name} Not Found` }]);
  });
});
