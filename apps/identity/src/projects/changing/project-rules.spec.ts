import { Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import { CreateProject, UpdateProject } from './project-fields.dto';
import type { NewProject, ProjectChange } from './project-input';
import { splitProjectChange } from './project-rules';

const plainUser = { isAdmin: false };

/** A parameter that no rule handles does not compile, neither in the class nor in `splitProjectChange`. */
class CreateColoured extends CreateProject implements ExactInput<NewProject, CreateColoured> {
  // @ts-expect-error no rule handles the colour
  @Text({ optional: true }) colour?: string;
}
class UpdateColoured extends UpdateProject implements ExactInput<ProjectChange, UpdateColoured, 'id'> {
  // @ts-expect-error no rule handles the colour
  @Text({ optional: true }) colour?: string;
}
interface ColouredChange extends ProjectChange {
  readonly colour?: string;
}

describe('fields of a project', () => {
  it('do not compile if no rule handles them', () => {
    const coloured: ColouredChange = { colour: 'red' };
    // @ts-expect-error no rule handles the colour
    expect(splitProjectChange(plainUser, coloured).stored).toEqual({ settings: {} });
    expect([CreateColoured, UpdateColoured]).toHaveLength(2);
  });

  it('are split into the parts that handle them', () => {
    const { shape, related, stored, problems } = splitProjectChange(plainUser, {
      name: 'Eggs',
      description: null,
      topics: ['nests'],
      wiki_access_level: 'private',
      packages_enabled: false,
    });
    expect(shape).toEqual({ name: 'Eggs', path: undefined, visibility: undefined });
    expect(related).toEqual({ topics: ['nests'], avatar: undefined });
    expect(stored).toEqual({
      description: null,
      packagesEnabled: false,
      settings: { wiki_access_level: 'private' },
    });
    expect(problems).toEqual({});
  });

  it('convert deprecated switches to the new fields, which take precedence', () => {
    const { stored } = splitProjectChange(plainUser, {
      issues_enabled: false,
      jobs_enabled: true,
      wiki_enabled: true,
      wiki_access_level: 'private',
      emails_disabled: true,
    });
    expect(stored).toEqual({
      issuesAccessLevel: 'disabled',
      emailsEnabled: false,
      settings: { builds_access_level: 'enabled', wiki_access_level: 'private' },
    });
  });

  it('are refused if texts are too long or a source is given', () => {
    const { problems } = splitProjectChange(plainUser, {
      description: 'x'.repeat(2001),
      merge_commit_template: 'x'.repeat(501),
      import_url: 'https://example.com/x.git',
      template_name: 'rails',
    });
    expect(problems).toEqual({
      description: ['is too long (maximum is 2000 characters)'],
      merge_commit_template: ['is too long (maximum is 500 characters)'],
      import_url: ['git import source is disabled'],
      template_name: ["'rails' is unknown or invalid"],
    });
  });
});
