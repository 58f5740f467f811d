import { Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import type { GroupChange, NewGroup } from './group-input';
import { splitGroupChange, problemsOfGroup } from './group-rules';
import { CreateGroup, UpdateGroup } from './groups.dto';

const plainUser = { isAdmin: false };

/** A parameter that no rule handles does not compile, neither in the class nor in `splitGroupChange`. */
class CreateColoured extends CreateGroup implements ExactInput<NewGroup, CreateColoured, 'parent_id'> {
  // @ts-expect-error no rule handles the colour
  @Text({ optional: true }) colour?: string;
}
class UpdateColoured extends UpdateGroup implements ExactInput<GroupChange, UpdateColoured, 'id'> {
  // @ts-expect-error no rule handles the colour
  @Text({ optional: true }) colour?: string;
}
interface ColouredChange extends GroupChange {
  readonly colour?: string;
}

describe('the description of a group', () => {
  it.each([
    [500, {}],
    [501, { description: ['is too long (maximum is 500 characters)'] }],
  ])('with %d characters', (length, problems) => {
    const group = {
      name: 'Colony',
      path: 'colony',
      visibility: 'private',
      description: '\u{1F95A}'.repeat(length),
    } as const;
    expect(problemsOfGroup(group, null)).toEqual(problems);
  });
});

describe('fields of a group', () => {
  it('do not compile if no rule handles them', () => {
    const coloured: ColouredChange = { colour: 'red' };
    // @ts-expect-error no rule handles the colour
    expect(splitGroupChange(plainUser, coloured).stored).toEqual({ settings: {} });
    expect([CreateColoured, UpdateColoured]).toHaveLength(2);
  });

  it('are split into the parts that handle them', () => {
    const change: GroupChange = {
      path: 'colony',
      description: null,
      project_creation_level: 'owner',
      emails_disabled: true,
      lfs_enabled: false,
      shared_runners_minutes_limit: 5,
    };
    expect(splitGroupChange(plainUser, change)).toMatchObject({
      shape: { name: undefined, path: 'colony', description: null },
      avatar: undefined,
      problems: {},
    });
    const stored = { description: '', projectCreationLevel: 'owner', emailsEnabled: false };
    expect(splitGroupChange(plainUser, change).stored).toEqual({ ...stored, settings: { lfs_enabled: false } });
    const settings = { lfs_enabled: false, shared_runners_minutes_limit: 5 };
    expect(splitGroupChange({ isAdmin: true }, change).stored).toEqual({ ...stored, settings });
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
  ])('expands %j', (change, settings) => expect(splitGroupChange(plainUser, change).stored.settings).toEqual(settings));

  it('are refused if they are too long', () => {
    const change: GroupChange = {
      default_branch: 'x'.repeat(256),
      allowed_email_domains_list: 'x'.repeat(4097),
      unique_project_download_limit_allowlist: ['x'.repeat(256)],
    };
    expect(splitGroupChange(plainUser, change).problems).toEqual({
      default_branch: ['is too long (maximum is 255 characters)'],
      allowed_email_domains_list: ['is too long (maximum is 4096 characters)'],
      unique_project_download_limit_allowlist: ['is invalid'],
    });
  });
});
