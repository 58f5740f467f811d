import type { Viewer } from '@rookery/kernel';
import { registerParameterEncodingTests, requestOf } from '@rookery/testing';
import type { SeededService, SeededUser, TestApp } from '@rookery/testing';
import { startAdmin } from '../support/app';

const PATH = '/api/v4/application/settings';
const DEFAULTS = {
  allow_top_level_group_owners_to_create_service_accounts: true,
  default_group_visibility: 'private',
  default_plan: 'ultimate',
  default_project_visibility: 'private',
  deletion_adjourned_period: 7,
  max_personal_access_token_lifetime: 365,
  notes_create_limit: 300,
  notes_create_limit_allowlist: [],
  personal_access_token_prefix: 'glpat-',
  require_personal_access_token_expiry: true,
  service_access_tokens_expiration_enforced: true,
};
const ALL_OTHER = {
  allow_top_level_group_owners_to_create_service_accounts: false,
  default_group_visibility: 'public',
  default_plan: 'free',
  default_project_visibility: 'internal',
  deletion_adjourned_period: 0,
  max_personal_access_token_lifetime: 1,
  notes_create_limit: 1_000_000,
  notes_create_limit_allowlist: ['wren', 'robin'],
  personal_access_token_prefix: 'nest.A_1-',
  require_personal_access_token_expiry: false,
  service_access_tokens_expiration_enforced: false,
};

let service: SeededService;
let app: TestApp;
let root: Viewer;
let user: Viewer;
let wren: SeededUser;
let robin: SeededUser;

beforeAll(async () => {
  service = await startAdmin();
  ({ app } = service);
  root = service.seed.viewer(await service.seed.user({ admin: true }));
  user = service.seed.viewer(await service.seed.user());
  wren = await service.seed.user({ username: 'wren' });
  robin = await service.seed.user({ username: 'robin' });
});
afterAll(() => service.close());
beforeEach(() => service.database.query('delete from application_settings'));

const fetchSettings = async (from = app): Promise<unknown> => (await from.as(root).get(PATH).expect(200)).body;
const putSettings = (params: object) => app.as(root).put(PATH).send(params);

it.each(['GET', 'PUT'] as const)(
  '%s is for administrators; the permission is checked before parameters',
  async (method) => {
    const anonymous = await requestOf(app.as(service.seed.anonymous()), method, PATH);
    expect([anonymous.status, anonymous.body]).toEqual([401, { message: '401 Unauthorized' }]);
    const ordinary = await requestOf(app.as(user), method, PATH);
    expect([ordinary.status, ordinary.body]).toEqual([403, { message: '403 Forbidden' }]);
    const scopeless = await requestOf(app.as({ ...root, scopes: ['read_user'] }), method, PATH);
    expect([scopeless.status, (scopeless.body as { error: string }).error]).toEqual([403, 'insufficient_scope']);
  },
);

describe('GET /application/settings', () => {
  it('returns all settings by name', async () => {
    const body = (await fetchSettings()) as object;
    expect(body).toEqual(DEFAULTS);
    expect(Object.keys(body)).toEqual(Object.keys(DEFAULTS));
  });

  it('returns the defaults of the environment until a setting is changed', async () => {
    const other = await service.again({
      DELETION_DELAY_DAYS: '3',
      NOTES_UNLIMITED_USER_IDS: `${wren.id}, ${robin.id}`,
    });
    try {
      const expected = { ...DEFAULTS, deletion_adjourned_period: 3, notes_create_limit_allowlist: ['wren', 'robin'] };
      expect(await fetchSettings(other)).toEqual(expected);
      await putSettings({ deletion_adjourned_period: 5 }).expect(200);
      expect(await fetchSettings(other)).toEqual({ ...expected, deletion_adjourned_period: 5 });
    } finally {
      await other.close();
    }
  });
});

describe('PUT /application/settings', () => {
  it('changes all settings and stores them', async () => {
    expect((await putSettings(ALL_OTHER).expect(200)).body).toEqual(ALL_OTHER);
    expect(await fetchSettings()).toEqual(ALL_OTHER);
    expect((await putSettings(DEFAULTS).expect(200)).body).toEqual(DEFAULTS);
  });

  it.each(Object.keys(ALL_OTHER) as (keyof typeof ALL_OTHER)[])('changes only %s', async (name) => {
    const expected = { ...DEFAULTS, [name]: ALL_OTHER[name] };
    expect((await putSettings({ [name]: ALL_OTHER[name] }).expect(200)).body).toEqual(expected);
    expect(await fetchSettings()).toEqual(expected);
  });

  it('ignores unknown parameters next to known ones', async () => {
    const { body } = await putSettings({ notes_create_limit: 5, signup_enabled: false, constructor: 1 }).expect(200);
    expect(body).toEqual({ ...DEFAULTS, notes_create_limit: 5 });
  });

  it.each([{}, { signup_enabled: false }])('refuses %j, which has no known parameter', async (params) => {
    const { status, body } = await putSettings(params);
    const error = `${Object.keys(DEFAULTS).join(', ')} are missing, at least one parameter must be provided`;
    expect([status, body]).toEqual([400, { error }]);
  });

  it.each([
    [{ allow_top_level_group_owners_to_create_service_accounts: 'maybe' }, 'is invalid'],
    [{ default_group_visibility: 'secret' }, 'does not have a valid value'],
    [{ default_plan: 'gold' }, 'does not have a valid value'],
    [{ default_project_visibility: 'secret' }, 'does not have a valid value'],
    [{ deletion_adjourned_period: 91 }, 'does not have a valid value'],
    [{ deletion_adjourned_period: -1 }, 'does not have a valid value'],
    [{ max_personal_access_token_lifetime: 0 }, 'does not have a valid value'],
    [{ max_personal_access_token_lifetime: 401 }, 'does not have a valid value'],
    [{ max_personal_access_token_lifetime: 'x' }, 'is invalid'],
    [{ notes_create_limit: 1_000_001 }, 'does not have a valid value'],
    [{ personal_access_token_prefix: 'a b' }, 'is invalid'],
    [{ personal_access_token_prefix: 'x'.repeat(21) }, 'is too long (maximum is 20 characters)'],
    [{ require_personal_access_token_expiry: [] }, 'is invalid'],
  ])('refuses %j and changes nothing', async (params, problem) => {
    const { status, body } = await putSettings({ notes_create_limit_allowlist: ['wren'], ...params });
    expect([status, body]).toEqual([400, { error: `${Object.keys(params)[0]} ${problem}` }]);
    expect(await fetchSettings()).toEqual(DEFAULTS);
  });

  describe('notes_create_limit_allowlist', () => {
    const list = (...names: string[]) => putSettings({ notes_create_limit_allowlist: names });
    const shown = async () =>
      ((await fetchSettings()) as { notes_create_limit_allowlist: string[] }).notes_create_limit_allowlist;

    it('accepts usernames in any case, removes duplicates, and stores ids', async () => {
      const { body } = await list('ROBIN', 'wren', 'Robin').expect(200);
      expect(body.notes_create_limit_allowlist).toEqual(['robin', 'wren']);
      const [row] = await service.database.query('select value from application_settings');
      expect(row).toEqual({ value: [robin.id, wren.id] });
    });

    it('follows renamed users, hides deleted ones, and does not exempt users who take over a name', async () => {
      const { seed } = service;
      const [jay, finch] = [await seed.user({ username: 'jay' }), await seed.user({ username: 'finch' })];
      await list('jay', 'finch').expect(200);
      await seed.put('users', { ...jay, username: 'nightjar' });
      const other = await seed.user({ username: 'jay' });
      expect(await shown()).toEqual(['nightjar', 'finch']);
      await seed.remove('users', finch.id);
      expect(await shown()).toEqual(['nightjar']);
      // The answer can be sent back unchanged.
      await list('nightjar').expect(200);
      await list('jay').expect(200);
      const [row] = await service.database.query('select value from application_settings');
      expect(row).toEqual({ value: [other.id] });
    });

    it('sees a user created a moment ago; answers 503 while the directory is outdated', async () => {
      const late = service.seed.viewer(await service.seed.user({ admin: true }));
      const ahead = { ...late, directory: { ...late.directory, version: late.directory.version + 1 } };
      await app
        .as(ahead, { waitMs: 1000 })
        .put(PATH)
        .send({ notes_create_limit_allowlist: ['wren'] })
        .expect(503);
      await app.as(ahead).put(PATH).send({ notes_create_limit: 7 }).expect(200);
      expect(await shown()).toEqual([]);
    });

    it.each([
      [['wren', 'nobody', 'else'], 'names nobody: nobody, else'],
      [['wren', 'x'.repeat(256)], 'has an item that is too long (maximum is 255 characters)'],
      [['a\u0000'], 'is invalid'],
    ])('refuses %j', async (names, problem) => {
      const { status, body } = await list(...names);
      const field = { notes_create_limit_allowlist: [problem] };
      expect([status, body]).toEqual([
        400,
        problem === 'is invalid' ? { error: `notes_create_limit_allowlist ${problem}` } : { message: field },
      ]);
      expect(await fetchSettings()).toEqual(DEFAULTS);
    });

    it('accepts at most 100', async () => {
      const { status } = await putSettings({
        notes_create_limit_allowlist: Array.from({ length: 101 }, (_, i) => `n${i}`),
      });
      expect(status).toBe(400);
    });
  });

  registerParameterEncodingTests({
    app: () => app,
    to: () => ({
      viewer: root,
      method: 'PUT',
      path: PATH,
      params: {
        require_personal_access_token_expiry: false,
        default_plan: 'free',
        notes_create_limit: 5,
        notes_create_limit_allowlist: ['wren', 'robin'],
      },
    }),
    seen: (body) => body,
    expected: {
      ...DEFAULTS,
      require_personal_access_token_expiry: false,
      default_plan: 'free',
      notes_create_limit: 5,
      notes_create_limit_allowlist: ['wren', 'robin'],
    },
  });
});
