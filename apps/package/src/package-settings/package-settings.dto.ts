import { AtLeastOneOf, Flag, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import type { PackageSettingsFields } from './package-settings.entity';

const EXCEPTIONS = 'Regular expression (RE2) of whole names or versions that may have duplicates all the same.';

/** Source: reference packages-and-admin 4.7. */
@AtLeastOneOf(
  'generic_duplicates_allowed',
  'generic_duplicate_exception_regex',
  'maven_duplicates_allowed',
  'maven_duplicate_exception_regex',
  'nuget_duplicates_allowed',
  'nuget_duplicate_exception_regex',
  'terraform_module_duplicates_allowed',
  'terraform_module_duplicate_exception_regex',
)
export class UpdatePackageSettings implements ExactInput<Partial<PackageSettingsFields>, UpdatePackageSettings> {
  @Flag({ optional: true, about: 'Whether a file of a generic package may be uploaded again.' })
  generic_duplicates_allowed?: boolean;
  @Text({ optional: true, about: EXCEPTIONS }) generic_duplicate_exception_regex?: string;
  @Flag({ optional: true, about: 'Whether a file of a Maven release may be uploaded again.' })
  maven_duplicates_allowed?: boolean;
  @Text({ optional: true, about: EXCEPTIONS }) maven_duplicate_exception_regex?: string;
  @Flag({ optional: true, about: 'Whether a version of a NuGet package may be uploaded again.' })
  nuget_duplicates_allowed?: boolean;
  @Text({ optional: true, about: EXCEPTIONS }) nuget_duplicate_exception_regex?: string;
  @Flag({
    optional: true,
    about: 'Whether several projects below a top-level group may have a Terraform module of one name.',
  })
  terraform_module_duplicates_allowed?: boolean;
  @Text({ optional: true, about: EXCEPTIONS }) terraform_module_duplicate_exception_regex?: string;
}
