import { choice, instant, int, list, nullable, object, presenter, text } from '@rookery/api-v4';
import type { PresentContext } from '@rookery/api-v4';
import type { PackageFileRow, PackageRow, SiblingRow } from './listing/packages.queries';
import { PACKAGE_STATUSES, PACKAGE_TYPES, SHOWN_STATUSES } from './package-types';

const links = object<Record<never, never>, { web_path: string; delete_api_path: string }>(
  {},
  { web_path: text, delete_api_path: text },
);

const tags = list(object({ id: int, package_id: int, name: text, created_at: instant, updated_at: instant }));

/** Source: requirements 3 §2 Package; reference packages-and-admin 3.1. */
export const packagePresenter = presenter<PackageRow>('Package').fields({
  id: [int, (row) => row.id],
  name: [text, shownNameOf, { about: 'Of Conan packages the whole reference, `name/version@user/channel`.' }],
  conan_package_name: [
    text,
    (row) => row.name,
    { when: (row) => row.package_type === 'conan', about: 'The name alone. Only for Conan packages.' },
  ],
  version: [nullable(text), (row) => row.version],
  package_type: [choice(...PACKAGE_TYPES), (row) => row.package_type],
  status: [choice(...PACKAGE_STATUSES), (row) => row.status],
  _links: [links, (row, _, ctx) => packageLinks(row, ctx)],
  created_at: [instant, (row) => row.created_at],
  last_downloaded_at: [nullable(instant), (row) => row.last_downloaded_at],
  creator_id: [nullable(int), (row) => row.creator_id],
  tags: [tags, (row) => row.tags, { about: 'Tags that name this version.' }],
});

/** A package in the list of a group. */
export const groupPackagePresenter = packagePresenter.extend<PackageRow>('GroupPackage').fields({
  project_id: [int, (row) => row.project_id],
  project_path: [text, (row) => row.project_path],
});

export type PackageWithVersions = PackageRow & { readonly siblings: readonly SiblingRow[] };

/** A package with its other versions. */
export const detailedPackagePresenter = packagePresenter.extend<PackageWithVersions>('DetailedPackage').fields({
  versions: [
    list(object({ id: int, version: nullable(text), created_at: instant, tags })),
    (row) => row.siblings,
    { about: 'Other versions of the package in the project.' },
  ],
});

/** Source: reference packages-and-admin 3.2. */
export const packageFilePresenter = presenter<PackageFileRow>('PackageFile').fields({
  id: [int, (file) => file.id],
  package_id: [int, (file) => file.package_id],
  created_at: [instant, (file) => file.created_at],
  file_name: [
    text,
    (file) => file.file_name,
    { about: 'Stored name. Folders and the name of the file are one encoded name.' },
  ],
  size: [int, (file) => file.size, { about: 'In bytes.' }],
  file_md5: [nullable(text), (file) => file.md5],
  file_sha1: [nullable(text), (file) => file.sha1],
  file_sha256: [nullable(text), (file) => file.sha256],
});

/** A pipeline that published a package. No rows exist, because uploads do not record theirs. */
export interface PackagePipeline {
  readonly id: number;
  readonly iid: number;
  readonly project_id: number;
  readonly sha: string;
  readonly ref: string;
  readonly status: string;
  readonly source: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly web_url: string;
}

/** Source: reference packages-and-admin 3.1. */
export const packagePipelinePresenter = presenter<PackagePipeline>('PackagePipeline').fields({
  id: [int, (pipeline) => pipeline.id],
  iid: [int, (pipeline) => pipeline.iid],
  project_id: [int, (pipeline) => pipeline.project_id],
  sha: [text, (pipeline) => pipeline.sha, { about: 'Commit of the pipeline.' }],
  ref: [text, (pipeline) => pipeline.ref, { about: 'Branch or tag of the pipeline.' }],
  status: [text, (pipeline) => pipeline.status],
  source: [text, (pipeline) => pipeline.source, { about: 'Event that started the pipeline.' }],
  created_at: [instant, (pipeline) => pipeline.created_at],
  updated_at: [instant, (pipeline) => pipeline.updated_at],
  web_url: [text, (pipeline) => pipeline.web_url],
});

/** The key of a Conan package is its name, user and channel: `name@user/channel`. */
function shownNameOf({ package_type, name, name_key, version }: PackageRow): string {
  return package_type === 'conan' ? `${name}/${version}${name_key.slice(name.length)}` : name;
}

function packageLinks(
  row: PackageRow,
  { links: urls }: PresentContext,
): { web_path?: string; delete_api_path?: string } {
  return {
    ...(SHOWN_STATUSES.includes(row.status) ? { web_path: `/${row.project_path}/-/packages/${row.id}` } : {}),
    ...(row.can_delete ? { delete_api_path: urls.apiUrl(`projects/${row.project_id}/packages/${row.id}`) } : {}),
  };
}
