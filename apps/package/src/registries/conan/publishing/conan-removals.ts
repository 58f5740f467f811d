import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { INSTALLABLE_STATUSES, literalListSql } from '../../../packages/package-types';
import { PackageRemoval } from '../../../packages/removal/package-removal';
import { PackageProtections } from '../../../protection-rules/protections';
import { conanKeyOf } from '../conan-reference';
import type { ConanReference } from '../conan-reference';

/** Revisions to remove. Omitted fields do not limit them. `binaries` has ids of binary packages. */
export interface ConanPart {
  readonly recipeRevision: string;
  /** The recipe itself stays. */
  readonly isOfBinaries: boolean;
  readonly binaries?: readonly string[];
  readonly binaryRevision?: string;
}

const LOCK = statement<{ project: number; key: string; version: string }, { id: number }>(
  'conan_packages_lock',
  `select id from packages
   where project_id = :project::bigint and package_type = 'conan' and name_key = :key and coalesce(version, '') = :version
     and status in (${literalListSql(INSTALLABLE_STATUSES)})
   for update`,
);
const REMOVE = statement<
  {
    package: number;
    recipe: string;
    ofBinaries: boolean;
    binaries: readonly string[] | null;
    revision: string | null;
  },
  { revisions: number; files: readonly number[] }
>(
  'conan_revisions_remove',
  `with gone as (
     delete from conan_revisions where package_id = :package::bigint and recipe_revision = :recipe
       and (not :ofBinaries::boolean or binary_reference <> '')
       and (:binaries::text[] is null or binary_reference = any(:binaries::text[]))
       and (:revision::text is null or binary_revision = :revision)
     returning id)
   select (select count(*)::int from gone) as revisions,
     array(select c.file_id from conan_files c where c.revision_id in (select id from gone)) as files`,
);
const HAS_REVISION = statement<{ package: number; recipe: string | null }, { id: number }>(
  'conan_revisions_left',
  `select id from conan_revisions
   where package_id = :package::bigint and (:recipe::text is null or (recipe_revision = :recipe and binary_reference = ''))
   limit 1`,
);

/** Removes recipes and revisions. Source: reference packages-and-admin 4.13. */
@Injectable()
export class ConanRemovals {
  constructor(
    private readonly work: Work,
    private readonly removal: PackageRemoval,
    private readonly protections: PackageProtections,
  ) {}

  /** Removes a recipe with all revisions and binary packages. Errors: NotFound; Forbidden for a protected name. */
  removeRecipe(project: ProjectScope, viewer: SignedInViewer, reference: ConanReference): Promise<void> {
    return this.work.run(async (tx) => {
      const id = await this.lockRecipe(tx, project, viewer, reference);
      await this.removePackage(tx, id, { project, viewer, reference });
    });
  }

  /** Removes revisions, and the recipe with the last one. Errors: NotFound; Forbidden for a protected name. */
  removePart(project: ProjectScope, viewer: SignedInViewer, reference: ConanReference, part: ConanPart): Promise<void> {
    return this.work.run(async (tx) => {
      const id = await this.lockRecipe(tx, project, viewer, reference);
      const { recipeRevision: recipe, isOfBinaries: ofBinaries, binaries = null, binaryRevision = null } = part;
      const named = { package: id, recipe, ofBinaries, binaries, revision: binaryRevision };
      const [gone] = await tx.run(REMOVE, named);
      // A deletion of all binary packages also succeeds if the recipe has none.
      const isAnyFound =
        gone!.revisions > 0 || (ofBinaries && binaries === null && (await hasConanRevision(tx, id, recipe)));
      if (!isAnyFound) throw new NotFound();
      await this.removal.removeFiles(tx, project.id, gone!.files);
      if (!(await hasConanRevision(tx, id, null))) await this.removePackage(tx, id, { project, viewer, reference });
    });
  }

  /** Errors: NotFound; Forbidden for a protected name. */
  private async lockRecipe(
    tx: Tx,
    project: ProjectScope,
    viewer: SignedInViewer,
    reference: ConanReference,
  ): Promise<number> {
    await this.protections.refuseDelete(project, viewer, 'conan', reference.name);
    const [found] = await tx.run(LOCK, {
      ...{ project: project.id, key: conanKeyOf(reference), version: reference.version },
    });
    if (!found) throw new NotFound();
    return found.id;
  }

  private removePackage(
    tx: Tx,
    id: number,
    {
      project,
      viewer,
      reference,
    }: { readonly project: ProjectScope; readonly viewer: SignedInViewer; readonly reference: ConanReference },
  ): Promise<void> {
    const named = { projectId: project.id, type: 'conan' as const, name: reference.name };
    return this.removal.removeVersions(tx, named, [id], viewer.userId);
  }
}

async function hasConanRevision(tx: Tx, packageId: number, recipe: string | null): Promise<boolean> {
  return (await tx.run(HAS_REVISION, { package: packageId, recipe })).length > 0;
}
