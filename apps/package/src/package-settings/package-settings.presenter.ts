import { bool, presenter, text } from '@rookery/api-v4';
import type { PackageSettingsFields } from './package-settings.entity';

const EXCEPTIONS = {
  about: 'Regular expression (RE2) of whole names or versions that may have duplicates all the same.',
};

/** Source: reference packages-and-admin 4.7. */
export const packageSettingsPresenter = presenter<PackageSettingsFields>('PackageSettings').fields({
  generic_duplicates_allowed: [
    bool,
    (settings) => settings.generic_duplicates_allowed,
    { about: 'Whether a file may be uploaded again.' },
  ],
  generic_duplicate_exception_regex: [text, (settings) => settings.generic_duplicate_exception_regex, EXCEPTIONS],
  maven_duplicates_allowed: [
    bool,
    (settings) => settings.maven_duplicates_allowed,
    { about: 'Whether a file of a release may be uploaded again.' },
  ],
  maven_duplicate_exception_regex: [text, (settings) => settings.maven_duplicate_exception_regex, EXCEPTIONS],
  nuget_duplicates_allowed: [
    bool,
    (settings) => settings.nuget_duplicates_allowed,
    { about: 'Whether a version may be uploaded again.' },
  ],
  nuget_duplicate_exception_regex: [text, (settings) => settings.nuget_duplicate_exception_regex, EXCEPTIONS],
  terraform_module_duplicates_allowed: [
    bool,
    (settings) => settings.terraform_module_duplicates_allowed,
    { about: 'Whether several projects below a top-level group may have a module of one name.' },
  ],
  terraform_module_duplicate_exception_regex: [
    text,
    (settings) => settings.terraform_module_duplicate_exception_regex,
    EXCEPTIONS,
  ],
});
