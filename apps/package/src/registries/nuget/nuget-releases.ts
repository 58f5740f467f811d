import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Conflict, NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { StoredFile } from '../../packages/package-files';
import { nameKeyOf } from '../../packages/package-types';
import { DuplicateFilePolicy } from '../../packages/publishing/duplicate-files';
import { PackagePublishing } from '../../packages/publishing/package-publishing';
import {
  identifyUploadCredential,
  isRetryOfUnansweredUpload,
  UploadAnswerTracker,
} from '../../packages/publishing/upload-answer-tracker';
import { NugetRemovals } from './nuget-removals';
import type { ExistingVersion, VersionKey } from './nuget-removals';
import type { ParsedVersion } from './nuget-version';
import type { Nuspec } from './nuspec';
import { toSymbolFileKey } from './symbols/symbol-reader';
import type { SymbolFile } from './symbols/symbol-reader';

/** A package or symbols, ready to be listed. */
export interface NugetRelease {
  readonly kind: 'nupkg' | 'snupkg';
  readonly nuspec: Nuspec;
  readonly version: ParsedVersion;
  readonly content: StoredFile;
  /** Files of symbols inside; none in a package. */
  readonly symbols: readonly SymbolFile[];
  readonly answered: Promise<boolean>;
}

/** Uploads under one name run one after the other, so that no version is added twice. */
const LOCK = statement<{ project: number; name: string }, never>(
  'nuget_lock_name',
  `select pg_advisory_xact_lock(hashtextextended('nuget ' || :project::bigint || ' ' || :name, 0))`,
);
const SAVE = statement<VersionKey & { package: number; isPrerelease: boolean; nuspec: string }, never>(
  'nuget_versions_save',
  `insert into nuget_versions (package_id, project_id, name_key, version_key, is_prerelease, nuspec)
   values (:package::bigint, :project::bigint, :name, :version, :isPrerelease::boolean, :nuspec::jsonb)
   on conflict (package_id) do update set nuspec = excluded.nuspec`,
);

const SAVE_SYMBOLS = statement<
  {
    file: number;
    project: number;
    entries: readonly string[];
    names: readonly string[];
    signatures: readonly string[];
    checksums: readonly string[];
    sizes: readonly number[];
  },
  never
>(
  'nuget_symbols_save',
  `insert into nuget_symbols (file_id, project_id, entry_name, name_key, signature, checksum, size)
   select :file::bigint, :project::bigint, entry_name, name_key, signature, checksum, size
   from unnest(:entries::text[], :names::text[], :signatures::text[], :checksums::text[], :sizes::bigint[])
     as sent (entry_name, name_key, signature, checksum, size)`,
);

/** Adds pushed files to NuGet packages. Source: reference packages-and-admin 4.9. */
@Injectable()
export class NugetReleases {
  constructor(
    private readonly work: Work,
    private readonly publishing: PackagePublishing,
    private readonly receipts: UploadAnswerTracker,
    private readonly duplicates: DuplicateFilePolicy,
    private readonly versions: NugetRemovals,
  ) {}

  /**
   * Adds a release. Where duplicates are refused, the same upload again succeeds without effect if the first one was not
   * answered. Errors: Conflict for a version that exists, NotFound for symbols without their version.
   */
  async publishRelease(project: ProjectScope, viewer: SignedInViewer, release: NugetRelease): Promise<void> {
    const { nuspec, version, content, answered } = release;
    const name = nameKeyOf('nuget', nuspec.id);
    const key = { project: project.id, name, version: version.key };
    const file = renderNugetFileName(name, version.key, release.kind);
    const turn = await this.receipts.beginTurn(JSON.stringify(['nuget file', project.id, file]), answered);
    const id = await this.work.run(async (tx) => {
      await tx.run(LOCK, { project: project.id, name });
      const found = await this.versions.findVersion(tx, key, file);
      if (!found && release.kind === 'snupkg') throw new NotFound('Package');
      // Exception patterns match the first published spelling: an upload with another spelling replaces the same version.
      const { name: publishedName, version: publishedVersion } = found ?? { name: nuspec.id, version: nuspec.version };
      const named = { type: 'nuget', name: publishedName, version: publishedVersion } as const;
      const isAllowed = await this.duplicates.areDuplicatesAllowed(project, named, tx);
      if (found && found.file_id !== null && !isAllowed) {
        if (isRetryOfUnansweredUpload(found, content.sha256, viewer)) return found.file_id;
        throw new Conflict('A package with the same name and version already exists');
      }
      return this.addRelease(tx, {
        project,
        viewer,
        release,
        key,
        file,
        found,
        repeatableBy: isAllowed ? null : identifyUploadCredential(viewer),
      });
    });
    turn.stored(id);
  }

  private async addRelease(
    tx: Tx,
    upload: {
      readonly project: ProjectScope;
      readonly viewer: SignedInViewer;
      readonly release: NugetRelease;
      readonly key: VersionKey;
      readonly file: string;
      readonly found: ExistingVersion | undefined;
      readonly repeatableBy: number | null;
    },
  ): Promise<number> {
    const { project, viewer, release, key, found } = upload;
    const { nuspec, version, content, kind } = release;
    const row = await this.publishing.publishFile(tx, {
      ...{ project, creatorId: viewer.userId, type: 'nuget' as const, name: nuspec.id, content },
      ...{ version: found?.version ?? nuspec.version, fileName: upload.file, repeatableBy: upload.repeatableBy },
    });
    const isPrerelease = version.labels.length > 0;
    if (kind === 'nupkg')
      await tx.run(SAVE, { ...key, package: row.package_id, isPrerelease, nuspec: JSON.stringify(nuspec) });
    await this.addSymbols(tx, row.id, project.id, release.symbols);
    return row.id;
  }

  private async addSymbols(tx: Tx, file: number, project: number, symbols: readonly SymbolFile[]): Promise<void> {
    if (symbols.length === 0) return;
    await tx.run(SAVE_SYMBOLS, {
      ...{ file, project, entries: symbols.map((one) => one.entryName) },
      names: symbols.map((one) => toSymbolFileKey(one.entryName)),
      signatures: symbols.map((one) => one.signature),
      checksums: symbols.map((one) => one.checksum),
      sizes: symbols.map((one) => one.size),
    });
  }
}

/** Name of a file in NuGet's flat container. `name` and `version` are normalized as keys, in lower case. */
export function renderNugetFileName(name: string, version: string, extension: string): string {
  return `${name}.${version}.${extension}`;
}
