import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** Formats whose packages may have duplicates: files of the same name, or modules of the same name in several projects. */
export type DuplicateType = 'generic' | 'maven' | 'nuget' | 'terraform_module';

/** Settings as the API shows them. Source: reference packages-and-admin 4.7. */
export interface PackageSettingsFields {
  readonly generic_duplicates_allowed: boolean;
  readonly generic_duplicate_exception_regex: string;
  readonly maven_duplicates_allowed: boolean;
  readonly maven_duplicate_exception_regex: string;
  readonly nuget_duplicates_allowed: boolean;
  readonly nuget_duplicate_exception_regex: string;
  readonly terraform_module_duplicates_allowed: boolean;
  readonly terraform_module_duplicate_exception_regex: string;
}

/** Settings of a group without a row. */
export const DEFAULT_SETTINGS: PackageSettingsFields = {
  generic_duplicates_allowed: true,
  generic_duplicate_exception_regex: '',
  maven_duplicates_allowed: true,
  maven_duplicate_exception_regex: '',
  nuget_duplicates_allowed: true,
  nuget_duplicate_exception_regex: '',
  terraform_module_duplicates_allowed: false,
  terraform_module_duplicate_exception_regex: '',
};

/** Settings of a group for packages in its projects and below it. */
@Entity('package_settings')
@Check('ck_package_settings_generic_regex', 'char_length(generic_duplicate_exception_regex) <= 255')
@Check('ck_package_settings_maven_regex', 'char_length(maven_duplicate_exception_regex) <= 255')
@Check('ck_package_settings_nuget_regex', 'char_length(nuget_duplicate_exception_regex) <= 255')
@Check('ck_package_settings_terraform_regex', 'char_length(terraform_module_duplicate_exception_regex) <= 255')
export class PackageSettings {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_package_settings' }) groupId: number;
  @Column({ type: 'boolean', default: true }) genericDuplicatesAllowed: boolean;
  /** Names and versions that may have duplicates all the same. Empty: none. */
  @Column({ type: 'text', default: '' }) genericDuplicateExceptionRegex: string;
  @Column({ type: 'boolean', default: true }) mavenDuplicatesAllowed: boolean;
  @Column({ type: 'text', default: '' }) mavenDuplicateExceptionRegex: string;
  @Column({ type: 'boolean', default: true }) nugetDuplicatesAllowed: boolean;
  @Column({ type: 'text', default: '' }) nugetDuplicateExceptionRegex: string;
  @Column({ type: 'boolean', default: false }) terraformModuleDuplicatesAllowed: boolean;
  @Column({ type: 'text', default: '' }) terraformModuleDuplicateExceptionRegex: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}
