import type { GroupPackageType, PackageStatus, PackageType } from '../package-types';

/** Filters and order of a package list. Source: reference packages-and-admin 3.4. */
interface CommonPackageListing {
  readonly sort: 'asc' | 'desc';
  readonly package_name?: string;
  readonly package_version?: string;
  readonly include_versionless: boolean;
  readonly status?: PackageStatus;
}

export interface ProjectListing extends CommonPackageListing {
  readonly order_by: 'created_at' | 'name' | 'version' | 'type';
  readonly package_type?: PackageType;
}

export interface GroupListing extends CommonPackageListing {
  readonly order_by: 'created_at' | 'name' | 'version' | 'type' | 'project_path';
  readonly package_type?: GroupPackageType;
  readonly exclude_subgroups: boolean;
}

/** Order of the files of a package. */
export interface FileListing {
  readonly order_by: 'id' | 'file_name' | 'created_at';
  readonly sort: 'asc' | 'desc';
}
