import { Flag, Int, OneOf, Search, Text } from '@rookery/api-v4';
import type { FileListing, GroupListing, ProjectListing } from './listing/package-listing';
import { GROUP_PACKAGE_TYPES, PACKAGE_STATUSES, PACKAGE_TYPES } from './package-types';
import type { GroupPackageType, PackageStatus, PackageType } from './package-types';

/** Filters and order of package lists. Source: requirements 3 §4 Packages; reference packages-and-admin 3.4. */
class PackageFilters {
  @OneOf(['asc', 'desc'], { default: 'asc' }) sort: 'asc' | 'desc';
  @Search({ about: 'Words that all occur in the name, ignoring case. A quoted phrase counts as one word.' })
  package_name?: string;
  @Text({ optional: true, max: 255, about: 'The exact version. Packages without a version are then left out.' })
  package_version?: string;
  @Flag({ default: false, about: 'Also lists packages without a version.' }) include_versionless: boolean;
  @OneOf(PACKAGE_STATUSES, { optional: true, about: 'Without it: `default`, `deprecated` and `error`.' })
  status?: PackageStatus;
}

export class ListProjectPackages extends PackageFilters implements ProjectListing {
  @OneOf(['created_at', 'name', 'version', 'type'], { default: 'created_at' })
  order_by: 'created_at' | 'name' | 'version' | 'type';
  @OneOf(PACKAGE_TYPES, { optional: true }) package_type?: PackageType;
}

export class ListGroupPackages extends PackageFilters implements GroupListing {
  @OneOf(['created_at', 'name', 'version', 'type', 'project_path'], { default: 'created_at' })
  order_by: 'created_at' | 'name' | 'version' | 'type' | 'project_path';
  @OneOf(GROUP_PACKAGE_TYPES, { optional: true }) package_type?: GroupPackageType;
  @Flag({ default: false, about: 'Lists packages of projects directly in the group only.' }) exclude_subgroups: boolean;
}

export class IdentifyPackage {
  @Int({ in: 'path' }) package_id: number;
}

export class ListPackageFiles extends IdentifyPackage implements FileListing {
  @OneOf(['id', 'file_name', 'created_at'], { default: 'id' }) order_by: 'id' | 'file_name' | 'created_at';
  @OneOf(['asc', 'desc'], { default: 'asc' }) sort: 'asc' | 'desc';
}

export class ListPackagePipelines extends IdentifyPackage {
  @Int({ min: 1, max: 20, default: 20, about: 'Rows on a page.' }) per_page: number;
  @Text({ optional: true, about: 'Opaque position from the `Link` header of the previous page.' }) cursor?: string;
}

export class IdentifyPackageFile extends IdentifyPackage {
  @Int({ in: 'path' }) package_file_id: number;
}
