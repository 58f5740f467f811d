import { Text } from '@rookery/api-v4';
import type { NothingBut } from '@rookery/kernel';
import type { GroupChange, NewGroup } from './group-input';
import { partsOf, problemsOfGroup } from './group-rules';
import { CreateGroup, UpdateGroup } from './groups.dto';

const somebody = { isAdmin: false };

/** A parameter that nothing takes up does not compile: neither in the class nor where a change is taken apart. */
class CreateColoured extends CreateGroup implements NothingBut<NewGroup, CreateColoured, 'parent_id'> {
  // @ts-expect-error nothing takes up the colour
  @Text({ optional: true }) colour?: string;
}
class UpdateColoured extends UpdateGroup implements NothingBut<GroupChange, UpdateColoured, 'id'> {
  // @ts-expect-error nothing takes up the colour
  @Text({ optional: true }) colour?: string;
}
interface ColouredChange extends GroupChange {
  readonly colour?: string;
}

describe('the description of a group', () => {
  it.each([
    [500, {}],
    [501, { description: ['is too long (maximum is 500 characters)'] }],
  ])('of %d characters', (length, problems) => {
    const group = {
      name: 'Colony',
      path: 'colony',
      visibility: 'private',
      description: '\u{1F95A}'.repeat(length),
    } as const;
    expect(problemsOfGroup(group, null)).toEqual(problems);
  });
});

describe('what is sent of a group', () => {
  it('does not compile with something that nothing takes up', () => {
    const coloured: ColouredChange = { colour: 'red' };
    // @ts-expect-error nothing takes up the colour
    expect(partsOf(somebody, coloured).stored).toEqual({ settings: {} });
    expect([CreateColoured, UpdateColoured]).toHaveLength(2);
  });

  it('goes to the part that takes it up', () => {
    const change: GroupChange = {
      path: 'colony',
      description: null,
      project_creation_level: 'owner',
      emails_disabled: true,
      lfs_enabled: false,
      shared_runners_minutes_limit: 5,
    };
    expect(partsOf(somebody, change)).toMatchObject({
      shape: { name: undefined, path: 'colony', description: null },
      avatar: undefined,
      problems: {},
    });
    const stored = { description: '', projectCreationLevel: 'owner', emailsEnabled: false };
    expect(partsOf(somebody, change).stored).toEqual({ ...stored, settings: { lfs_enabled: false } });
    const settings = { lfs_enabled: false, shared_runners_minutes_limit: 5 };
    expect(partsOf({ isAdmin: true }, change).stored).toEqual({ ...stored, settings });
  });

  it.each<[GroupChange, object]>([
    [{ shared_runners_setting: 'disabled_with_override' }, { shared_runners_setting: 'disabled_and_overridable' }],
    [
      { default_branch_protection_defaults: { allow_force_push: true } },
      {
        default_branch_protection_defaults: {
          allowed_to_push: [{ access_level: 40 }],
          allow_force_push: true,
          allowed_to_merge: [{ access_level: 40 }],
          developer_can_initial_push: false,
        },
      },
    ],
    [
      { default_branch_protection: 1 },
      {
        default_branch_protection: 1,
        default_branch_protection_defaults: {
          allowed_to_push: [{ access_level: 30 }],
          allow_force_push: false,
          allowed_to_merge: [{ access_level: 40 }],
          developer_can_initial_push: false,
        },
      },
    ],
  ])('settles %j', (change, settings) => expect(partsOf(somebody, change).stored.settings).toEqual(settings));

  it('is refused where settings are too long', () => {
    const change: GroupChange = {
      default_branch: 'x'.repeat(256),
      allowed_email_domains_list: 'x'.repeat(4097),
      unique_project_download_limit_allowlist: ['x'.repeat(256)],
    };
    expect(partsOf(somebody, change).problems).toEqual({
      default_branch: ['is too long (maximum is 255 characters)'],
      allowed_email_domains_list: ['is too long (maximum is 4096 characters)'],
      unique_project_download_limit_allowlist: ['is invalid'],
    });
  });
});
