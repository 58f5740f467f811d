import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { Clock, Viewer } from '@rookery/kernel';
import { CLOCK, Conflict, Forbidden, NotFound, Refused } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { raisePackageIndexGeneration } from '../../../packages/indexing/package-index';
import { canDeletePackages } from '../../../packages/packages.policy';
import { INSTALLABLE_STATUSES, literalListSql } from '../../../packages/package-types';
import { setPackagesDeprecated } from '../../../packages/publishing/package-deprecation';
import { PackageRemoval } from '../../../packages/removal/package-removal';
import type { ScannedDocument } from '../publishing/document-scanner';
import { stripUnstorableCharacters } from '../publishing/new-version';
import { NpmGate } from '../publishing/npm-gate';
import { NpmQueries } from '../reading/npm.queries';
import type { NpmVersionRow } from '../reading/npm.queries';
import { renderRevision } from '../reading/packuments';

const MAX_DEPRECATION_CHARACTERS = 4096;

/** Versions whose text is already the sent one stay as they are. An empty text ends a deprecation. */
const DEPRECATE = statement<
  { project: number; name: string; versions: readonly string[]; texts: readonly string[] },
  { id: number; is_deprecated: boolean }
>(
  'npm_versions_deprecate',
  `update npm_versions v set deprecation = nullif(sent.text, '')
   from packages p, unnest(:versions::text[], :texts::text[]) as sent (version, text)
   where p.project_id = :project::bigint and p.package_type = 'npm' and p.name_key = :name
     and p.status in (${literalListSql(INSTALLABLE_STATUSES)}) and p.version = sent.version and v.package_id = p.id
     and coalesce(v.deprecation, '') <> sent.text
   returning v.package_id as id, v.deprecation is not null as is_deprecated`,
);

/** Deprecation and removal of versions by whole documents. Source: reference packages-and-admin 4.4. */
@Injectable()
export class NpmMaintenance {
  constructor(
    private readonly work: Work,
    private readonly queries: NpmQueries,
    private readonly removal: PackageRemoval,
    private readonly gate: NpmGate,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Sets the deprecation of each version whose `deprecated` is a text; an empty text ends it. Unknown versions and other
   * changes are ignored. Errors: Forbidden; Refused without such a version.
   */
  async deprecateVersions(
    project: ProjectScope,
    viewer: Viewer,
    name: string,
    document: ScannedDocument,
  ): Promise<void> {
    if (!canDeletePackages(viewer, project)) throw new Forbidden();
    const sent = [...document.versions].flatMap(([version, { deprecated }]) =>
      typeof deprecated === 'string' ? [[version, stripUnstorableCharacters(deprecated)] as const] : [],
    );
    if (sent.length === 0) throw new Refused('"package versions to deprecate" not given');
    if (sent.some(([, text]) => text.length > MAX_DEPRECATION_CHARACTERS))
      throw new Refused(`Deprecation is too long (maximum is ${MAX_DEPRECATION_CHARACTERS} characters)`);
    const versions = sent.map(([version]) => stripUnstorableCharacters(version));
    const texts = sent.map(([, text]) => text);
    await this.work.run(async (tx) => {
      const now = this.clock.now();
      await raisePackageIndexGeneration(tx, { projectId: project.id, type: 'npm', name }, now);
      const changed = await tx.run(DEPRECATE, { project: project.id, name, versions, texts });
      for (const isDeprecated of [true, false]) {
        const ids = changed.filter((row) => row.is_deprecated === isDeprecated).map(({ id }) => id);
        await setPackagesDeprecated(tx, ids, isDeprecated, now);
      }
      if (changed.length === 0 && (await this.queries.listVersions([project.id], name, tx)).length === 0)
        throw new NotFound('Package');
    });
  }

  /**
   * Removes the one version that the document leaves out. `revision` is that of the document that the client changed.
   * Errors: NotFound; Conflict for an old revision; Forbidden; Refused.
   */
  async removeVersion(
    project: ProjectScope,
    viewer: Viewer,
    { name, revision }: { readonly name: string; readonly revision: string },
    { root }: ScannedDocument,
  ): Promise<void> {
    const sent = root['versions'];
    if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
      throw new Refused('Versions key is missing from the JSON upload', { verbatim: true });
    const left = new Set(Object.keys(sent));
    await this.removeChosenVersions(project, viewer, name, revision, (rows) => {
      const removed = rows.filter(({ version }) => !left.has(version));
      if (removed.length > 1) throw new Refused('Only one version can be removed at a time.', { verbatim: true });
      return removed;
    });
  }

  /** Removes all versions. Errors: as `removeVersion`. */
  async removeAll(project: ProjectScope, viewer: Viewer, name: string, revision: string): Promise<void> {
    await this.removeChosenVersions(project, viewer, name, revision, (rows) => rows);
  }

  private async removeChosenVersions(
    project: ProjectScope,
    viewer: Viewer,
    name: string,
    revision: string,
    choose: (rows: readonly NpmVersionRow[]) => readonly NpmVersionRow[],
  ): Promise<void> {
    await this.gate.refuseDelete(project, viewer, name);
    const named = { projectId: project.id, type: 'npm', name } as const;
    await this.work.run(async (tx: Tx) => {
      const generation = await raisePackageIndexGeneration(tx, named, this.clock.now());
      const rows = await this.queries.listVersions([project.id], name, tx);
      if (rows.length === 0) throw new NotFound('Package');
      if (revision !== renderRevision([{ project_id: project.id, generation: generation - 1 }]))
        throw new Conflict('Document update conflict');
      const ids = choose(rows).map(({ id }) => id);
      if (ids.length > 0) await this.removal.removeVersions(tx, named, ids, viewer.userId);
    });
  }
}
