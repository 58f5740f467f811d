import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { PackageFileRow } from '../../packages/listing/packages.queries';
import type { StoredFile } from '../../packages/package-files';
import { DuplicateFilePolicy } from '../../packages/publishing/duplicate-files';
import type { NewPackageFile } from '../../packages/publishing/duplicate-files';
import { PackagePublishing } from '../../packages/publishing/package-publishing';
import { isSnapshotMetadata, METADATA_FILE } from './maven-path';
import type { MavenFilePath } from './maven-path';
import type { MavenMetadata, Plugin } from './metadata/metadata-xml';
import { listMavenSnapshotFileNames } from './metadata/snapshot-files';

/** A stored file with its facts. `metadata` is the content of a `maven-metadata.xml`, null for other files. */
export interface MavenContent {
  readonly content: StoredFile;
  readonly sha512: string;
  readonly metadata: MavenMetadata | null;
}

/** Place of a file that is added. `repeatableBy` has the meaning that `PublishedFile` gives. */
interface PublishTarget {
  readonly project: ProjectScope;
  readonly viewer: SignedInViewer;
  readonly path: MavenFilePath;
  readonly repeatableBy: number | null;
}

/** Longest prefix, name and artifact of a plugin. Units: characters. */
const MAX_TEXT = 255;

const ADD_FACTS = statement<{ file: number; sha512: string; listed: readonly string[] | null }, never>(
  'maven_files_add',
  `insert into maven_files (file_id, sha512, listed_files)
   values (:file::bigint, :sha512, :listed::text[])`,
);
/** Adds or updates plugins in the order of their key, so that parallel uploads do not deadlock. */
const MERGE_PLUGINS = statement<
  {
    package: number;
    artifacts: readonly string[];
    prefixes: readonly string[];
    names: readonly string[];
  },
  never
>(
  'maven_plugins_merge',
  `insert into maven_plugins (package_id, artifact_id, prefix, name)
   select :package::bigint, sent.artifact_id, sent.prefix, sent.name
   from unnest(:artifacts::text[], :prefixes::text[], :names::text[]) as sent (artifact_id, prefix, name)
   order by sent.artifact_id
   on conflict (package_id, artifact_id) do update set prefix = excluded.prefix, name = excluded.name`,
);

/** Adds stored files to Maven packages. Source: reference packages-and-admin 4.6. */
@Injectable()
export class MavenPublishing {
  constructor(
    private readonly work: Work,
    private readonly publishing: PackagePublishing,
    private readonly duplicates: DuplicateFilePolicy,
  ) {}

  /** Refuses an upload before its body is read, if no body could be accepted. Errors: Refused. */
  async refuseEarly(project: ProjectScope, viewer: SignedInViewer, path: MavenFilePath): Promise<void> {
    if (!isReplaceable(path)) await this.duplicates.refuseEarly(project, viewer, toNewPackageFile(path));
  }

  /**
   * Adds a file. Metadata replaces older metadata, and adds its plugins to those of the group. `answered` resolves with
   * whether the client was sent the whole answer. Errors: as `PackagePublishing`; Refused, for a duplicate too.
   */
  async publishFile(
    project: ProjectScope,
    viewer: SignedInViewer,
    path: MavenFilePath,
    file: MavenContent,
    answered: Promise<boolean>,
  ): Promise<void> {
    const add = (tx: Tx, repeatableBy: number | null): Promise<PackageFileRow> =>
      this.addFile(tx, { project, viewer, path, repeatableBy }, file);
    if (isReplaceable(path)) await this.work.run((tx) => add(tx, null));
    else
      await this.duplicates.publishOnce(
        project,
        viewer,
        toNewPackageFile(path),
        { content: file.content, answered },
        add,
      );
  }

  private async addFile(
    tx: Tx,
    { project, viewer, path, repeatableBy }: PublishTarget,
    { content, sha512, metadata }: MavenContent,
  ): Promise<PackageFileRow> {
    const isSnapshot = isSnapshotMetadata(path);
    const listed = isSnapshot && metadata !== null ? listMavenSnapshotFileNames(metadata) : null;
    const row = await this.publishing.publishFile(tx, {
      ...{
        project,
        creatorId: viewer.userId,
        type: 'maven' as const,
        content,
        isReplacing: metadata !== null,
        repeatableBy,
      },
      ...{ name: path.name, version: path.version, fileName: path.fileName },
    });
    await tx.run(ADD_FACTS, { file: row.id, sha512, listed });
    const plugins = metadata === null || isSnapshot ? [] : selectUsableMavenPlugins(metadata.plugins);
    if (plugins.length === 0) return row;
    await tx.run(MERGE_PLUGINS, {
      ...{ package: row.package_id, artifacts: plugins.map(({ artifactId }) => artifactId) },
      ...{ prefixes: plugins.map(({ prefix }) => prefix), names: plugins.map(({ name }) => name) },
    });
    return row;
  }
}

/** Metadata and files of snapshots are published again and again. */
function isReplaceable({ version, fileName }: MavenFilePath): boolean {
  return version === null || fileName === METADATA_FILE || version.endsWith('-SNAPSHOT');
}

function toNewPackageFile({ name, version, fileName }: MavenFilePath): NewPackageFile {
  return { type: 'maven', name, version, fileName };
}

/** Plugins that a client can find, each artifact once. Errors: Refused for a text that is too long. */
function selectUsableMavenPlugins(plugins: readonly Plugin[]): Plugin[] {
  const found = new Map<string, Plugin>();
  for (const plugin of plugins) {
    if (plugin.artifactId === '' || plugin.prefix === '') continue;
    if (Object.values(plugin).some((text: string) => text.length > MAX_TEXT))
      throw new Refused(`maven-metadata.xml has a plugin with more than ${MAX_TEXT} characters in a field`);
    found.set(plugin.artifactId, plugin);
  }
  return [...found.values()];
}
