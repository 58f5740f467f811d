import type { FeatureAccess } from '@rookery/api-v4';
import { requestOf, registerVisibilityTests } from '@rookery/testing';
import type { RoleCase } from '@rookery/testing';
import { FlagsOfAProject } from '../support/flags';

/** Access to feature flags by role, project visibility and feature level. Source: reference packages-and-admin 9. */
let flags: FlagsOfAProject;
beforeAll(async () => void (flags = await FlagsOfAProject.start()));
afterAll(() => flags.service.close());

interface Levels {
  readonly feature_flags_access_level: FeatureAccess | null;
  readonly repository_access_level: FeatureAccess | null;
}
const DEVELOPERS: readonly RoleCase[] = ['developer', 'maintainer', 'owner', 'admin'];
const MAINTAINERS: readonly RoleCase[] = ['maintainer', 'owner', 'admin'];
const LEVELS: readonly (readonly [flags: FeatureAccess | null, repository: FeatureAccess | null, isOn: boolean])[] = [
  [null, null, true],
  ['enabled', 'enabled', true],
  ['private', 'enabled', true],
  ['enabled', 'private', true],
  ['disabled', 'enabled', false],
  ['enabled', 'disabled', false],
];

describe.each(LEVELS)(
  'feature flags %s, repository %s',
  (feature_flags_access_level, repository_access_level, isOn) => {
    const levels: Levels = { feature_flags_access_level, repository_access_level };
    const ROUTES: readonly (readonly [string, readonly RoleCase[]])[] = [
      ['feature_flags', DEVELOPERS],
      ['feature_flags_user_lists', DEVELOPERS],
      ['feature_flags_client', MAINTAINERS],
    ];
    describe.each(ROUTES)('GET …/%s', (rest, allowed) => {
      registerVisibilityTests({
        app: () => flags.app,
        from: (level, standing) => flags.from(level, standing, rest, levels),
        seen: (standing) => (isOn && allowed.includes(standing) ? 200 : 403),
        anonymous: 401,
      });
    });
  },
);

describe('while feature flags are disabled', () => {
  const disabled = { feature_flags_access_level: 'disabled' } as const;
  let token: string;
  let flag: string;
  let list: string;
  beforeAll(async () => {
    const maintainer = flags.app.as(await flags.member('maintainer'));
    token = (await maintainer.get(flags.path('feature_flags_client')).expect(200)).body.token;
    flag = flags.path(`feature_flags/${(await flags.post<{ name: string }>('feature_flags', { name: 'eggs' })).name}`);
    const made = await flags.post<{ iid: number }>('feature_flags_user_lists', { name: 'all', user_xids: 'a' });
    list = flags.path(`feature_flags_user_lists/${made.iid}`);
  });
  afterEach(() => flags.service.seed.put('projects', flags.project));

  const features = (known?: string) => {
    const asked = flags.app
      .as(flags.service.seed.anonymous())
      .get(`/api/v4/feature_flags/unleash/${flags.project.id}/client/features`)
      .set('unleash-instanceid', token);
    return known === undefined ? asked : asked.set('if-none-match', known);
  };

  it('refuses reads and writes, and keeps the data for when flags are enabled again', async () => {
    const owner = async () => flags.app.as(flags.service.seed.viewer(await ownerOf()));
    const asked = [
      ['GET', flag],
      ['PUT', flag],
      ['DELETE', flag],
      ['POST', flags.path('feature_flags')],
      ['GET', list],
      ['PUT', list],
      ['DELETE', list],
      ['POST', flags.path('feature_flags_user_lists')],
      ['POST', flags.path('feature_flags_client/reset_token')],
    ] as const;
    await flags.service.seed.put('projects', { ...flags.project, ...disabled });
    for (const [method, path] of asked) {
      const body = { name: 'more', user_xids: 'a' };
      const { status, body: refusal } = await requestOf(await owner(), method, path).send(body);
      expect([method, path, status, refusal]).toEqual([method, path, 403, { message: '403 Forbidden' }]);
    }
    await flags.service.seed.put('projects', flags.project);
    for (const path of [flag, list]) await (await owner()).get(path).expect(200);
    await features().expect(200);
  });

  it('refuses clients immediately, also those that have the newest answer', async () => {
    const known = (await features().expect(200)).get('etag')!;
    await features(known).expect(304);
    for (const levels of [disabled, { repository_access_level: 'disabled' } as const]) {
      await flags.service.seed.put('projects', { ...flags.project, ...levels });
      for (const asked of [features(), features(known)]) {
        const { status, body } = await asked;
        expect([status, body]).toEqual([401, { message: '401 Unauthorized' }]);
      }
      await flags.service.seed.put('projects', flags.project);
    }
    await flags.service.seed.put('projects', { ...flags.project, feature_flags_access_level: 'private' });
    await features(known).expect(304);
  });

  it('refuses clients while the copy has not seen the newest change', async () => {
    const anonymous = flags.service.seed.anonymous();
    const ahead = { ...anonymous, directory: { ...anonymous.directory, version: anonymous.directory.version + 1 } };
    const path = `/api/v4/feature_flags/unleash/${flags.project.id}/client/features`;
    await flags.app.as(ahead).get(path).set('unleash-instanceid', token).expect(503);
  });

  async function ownerOf() {
    const person = await flags.service.seed.user();
    await flags.service.seed.member(person, flags.project, 'owner');
    return person;
  }
});
