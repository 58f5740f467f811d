import { Inject, Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import type { Clock } from '@rookery/kernel';
import { CLOCK, Unprocessable } from '@rookery/kernel';
import { Database, statement, Work } from '@rookery/persistence';
import type { SqlReader } from '@rookery/persistence';
import { matchesDuplicateExceptionPattern, findDuplicateExceptionPatternProblem } from './exception-pattern';
import { DEFAULT_SETTINGS } from './package-settings.entity';
import type { DuplicateType, PackageSettingsFields } from './package-settings.entity';

/** A package, as exceptions name it. `version` is null for a package without versions. */
export interface PackageName {
  readonly type: DuplicateType;
  readonly name: string;
  readonly version: string | null;
}

const COLUMNS = `generic_duplicates_allowed, generic_duplicate_exception_regex, maven_duplicates_allowed,
  maven_duplicate_exception_regex, nuget_duplicates_allowed, nuget_duplicate_exception_regex,
  terraform_module_duplicates_allowed, terraform_module_duplicate_exception_regex`;

/** Settings of the last one of `groups` that has any. `groups` begins with the top-level group. */
const NEAREST = statement<{ groups: readonly number[] }, PackageSettingsFields>(
  'package_settings_nearest',
  `select ${COLUMNS} from package_settings where group_id = any(:groups::bigint[])
   order by array_position(:groups::bigint[], group_id) desc limit 1`,
);
type NullableFields<T> = { readonly [K in keyof T]: T[K] | null };
interface ChangedSettings {
  readonly genericAllowed: boolean;
  readonly genericRegex: string;
  readonly mavenAllowed: boolean;
  readonly mavenRegex: string;
  readonly nugetAllowed: boolean;
  readonly nugetRegex: string;
  readonly terraformAllowed: boolean;
  readonly terraformRegex: string;
}
type InheritedSettings = { readonly [K in keyof ChangedSettings as `inherited${Capitalize<K>}`]: ChangedSettings[K] };
/** `inherited…` are for a group without settings of its own, and null keeps a value. */
const CHANGE = statement<
  NullableFields<ChangedSettings> & InheritedSettings & { readonly group: number; readonly now: Date },
  PackageSettingsFields
>(
  'package_settings_change',
  `insert into package_settings as s (group_id, ${COLUMNS}, updated_at)
   values (:group::bigint,
     coalesce(:genericAllowed::boolean, :inheritedGenericAllowed), coalesce(:genericRegex::text, :inheritedGenericRegex),
     coalesce(:mavenAllowed::boolean, :inheritedMavenAllowed), coalesce(:mavenRegex::text, :inheritedMavenRegex),
     coalesce(:nugetAllowed::boolean, :inheritedNugetAllowed), coalesce(:nugetRegex::text, :inheritedNugetRegex),
     coalesce(:terraformAllowed::boolean, :inheritedTerraformAllowed),
     coalesce(:terraformRegex::text, :inheritedTerraformRegex),
     :now::timestamptz)
   on conflict (group_id) do update set
     generic_duplicates_allowed = coalesce(:genericAllowed::boolean, s.generic_duplicates_allowed),
     generic_duplicate_exception_regex = coalesce(:genericRegex::text, s.generic_duplicate_exception_regex),
     maven_duplicates_allowed = coalesce(:mavenAllowed::boolean, s.maven_duplicates_allowed),
     maven_duplicate_exception_regex = coalesce(:mavenRegex::text, s.maven_duplicate_exception_regex),
     nuget_duplicates_allowed = coalesce(:nugetAllowed::boolean, s.nuget_duplicates_allowed),
     nuget_duplicate_exception_regex = coalesce(:nugetRegex::text, s.nuget_duplicate_exception_regex),
     terraform_module_duplicates_allowed = coalesce(:terraformAllowed::boolean, s.terraform_module_duplicates_allowed),
     terraform_module_duplicate_exception_regex =
       coalesce(:terraformRegex::text, s.terraform_module_duplicate_exception_regex),
     updated_at = :now::timestamptz
   returning ${COLUMNS}`,
);

/** Settings of groups for packages, and their effect. Source: reference packages-and-admin 4.7. */
@Injectable()
export class PackageSettingsService {
  constructor(
    private readonly database: Database,
    private readonly work: Work,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Returns the settings that apply to a group: its own, else those of the nearest group above. */
  async ofGroup(traversalIds: readonly number[], reads: SqlReader = this.database): Promise<PackageSettingsFields> {
    const [found] = await reads.run(NEAREST, { groups: traversalIds });
    return found ?? DEFAULT_SETTINGS;
  }

  /**
   * Changes settings of a group. Omitted ones keep their value: that of the group, else the one that applied to it.
   * Errors: Unprocessable for an expression that is invalid.
   */
  async changeSettings(
    { id, traversalIds }: GroupScope,
    sent: Partial<PackageSettingsFields>,
  ): Promise<PackageSettingsFields> {
    const regexes = {
      Generic: sent.generic_duplicate_exception_regex,
      Maven: sent.maven_duplicate_exception_regex,
      Nuget: sent.nuget_duplicate_exception_regex,
      'Terraform module': sent.terraform_module_duplicate_exception_regex,
    };
    const problems = Object.entries(regexes).flatMap(([type, pattern]) => {
      const problem = pattern === undefined ? null : findDuplicateExceptionPatternProblem(pattern);
      return problem === null ? [] : [`${type} duplicate exception regex ${problem}`];
    });
    if (problems.length > 0) throw new Unprocessable({ error: problems });
    const inherited = await this.ofGroup(traversalIds);
    const [row] = await this.work.run((tx) =>
      tx.run(CHANGE, {
        ...{ group: id, now: this.clock.now() },
        ...{ genericAllowed: sent.generic_duplicates_allowed ?? null, genericRegex: regexes.Generic ?? null },
        ...{ mavenAllowed: sent.maven_duplicates_allowed ?? null, mavenRegex: regexes.Maven ?? null },
        ...{ nugetAllowed: sent.nuget_duplicates_allowed ?? null, nugetRegex: regexes.Nuget ?? null },
        terraformAllowed: sent.terraform_module_duplicates_allowed ?? null,
        terraformRegex: regexes['Terraform module'] ?? null,
        inheritedGenericAllowed: inherited.generic_duplicates_allowed,
        inheritedGenericRegex: inherited.generic_duplicate_exception_regex,
        inheritedMavenAllowed: inherited.maven_duplicates_allowed,
        inheritedMavenRegex: inherited.maven_duplicate_exception_regex,
        inheritedNugetAllowed: inherited.nuget_duplicates_allowed,
        inheritedNugetRegex: inherited.nuget_duplicate_exception_regex,
        inheritedTerraformAllowed: inherited.terraform_module_duplicates_allowed,
        inheritedTerraformRegex: inherited.terraform_module_duplicate_exception_regex,
      }),
    );
    return row!;
  }

  /** Whether a package below these groups may have several files of the same name. */
  async areDuplicatesAllowed(
    traversalIds: readonly number[],
    named: PackageName,
    reads: SqlReader = this.database,
  ): Promise<boolean> {
    const settings = await this.ofGroup(traversalIds, reads);
    if (settings[`${named.type}_duplicates_allowed`]) return true;
    const exception = settings[`${named.type}_duplicate_exception_regex`];
    return [named.name, named.version].some(
      (text) => text !== null && matchesDuplicateExceptionPattern(exception, text),
    );
  }
}
