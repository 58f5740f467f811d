import { Text } from '@rookery/api-v4';
import type { NothingBut } from '@rookery/kernel';
import { CreateProject, UpdateProject } from './project-fields.dto';
import type { NewProject, ProjectChange } from './project-input';
import { partsOf } from './project-rules';

const somebody = { isAdmin: false };

/** A parameter that nothing takes up does not compile: neither in the class nor where a change is taken apart. */
class CreateColoured extends CreateProject implements NothingBut<NewProject, CreateColoured> {
  // @ts-expect-error nothing takes up the colour
  @Text({ optional: true }) colour?: string;
}
class UpdateColoured extends UpdateProject implements NothingBut<ProjectChange, UpdateColoured, 'id'> {
  // @ts-expect-error nothing takes up the colour
  @Text({ optional: true }) colour?: string;
}
interface ColouredChange extends ProjectChange {
  readonly colour?: string;
}

describe('what is sent of a project', () => {
  it('does not compile with something that nothing takes up', () => {
    const coloured: ColouredChange = { colour: 'red' };
    // @ts-expect-error nothing takes up the colour
    expect(partsOf(somebody, coloured).stored).toEqual({ settings: {} });
    expect([CreateColoured, UpdateColoured]).toHaveLength(2);
  });

  it('goes to the part that takes it up', () => {
    const { shape, beside, stored, problems } = partsOf(somebody, {
      name: 'Eggs',
      description: null,
      topics: ['nests'],
      wiki_access_level: 'private',
      packages_enabled: false,
    });
    expect(shape).toEqual({ name: 'Eggs', path: undefined, visibility: undefined });
    expect(beside).toEqual({ topics: ['nests'], avatar: undefined });
    expect(stored).toEqual({
      description: null,
      packagesEnabled: false,
      settings: { wiki_access_level: 'private' },
    });
    expect(problems).toEqual({});
  });

  it('folds old switches into what took their place, which wins', () => {
    const { stored } = partsOf(somebody, {
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

  it('is refused where texts are too long or a source is asked for', () => {
    const { problems } = partsOf(somebody, {
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
