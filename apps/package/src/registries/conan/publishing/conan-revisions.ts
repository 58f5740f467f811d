import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Conflict } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { StoredFile } from '../../../packages/package-files';
import { PackagePublishing } from '../../../packages/publishing/package-publishing';
import { PackageRemoval } from '../../../packages/removal/package-removal';
import { conanKeyOf, FIRST_REVISION, MANIFEST } from '../conan-reference';
import type { ConanReference, ConanRevisionName } from '../conan-reference';

/** A file of a revision. */
export interface ConanTarget {
  readonly project: ProjectScope;
  readonly viewer: SignedInViewer;
  readonly reference: ConanReference;
  readonly revision: ConanRevisionName;
  readonly fileName: string;
}

/** A stored file of a revision. `info` is the text of `conaninfo.txt`, or null for other files. */
export interface ConanContent {
  readonly content: StoredFile;
  readonly info: string | null;
}

interface FileOfRevision {
  readonly id: number;
  readonly file_name: string;
  readonly sha1: string;
}

/** The row lock lasts until the commit, so that uploads to one revision follow each other. */
const ENSURE = statement<
  { package: number; project: number; recipe: string; binary: string; revision: string },
  { id: number }
>(
  'conan_revisions_ensure',
  `insert into conan_revisions (package_id, project_id, recipe_revision, binary_reference, binary_revision)
   values (:package::bigint, :project::bigint, :recipe, :binary, :revision)
   on conflict (package_id, recipe_revision, binary_reference, binary_revision)
   do update set project_id = excluded.project_id returning id`,
);
const FILES = statement<{ revision: number }, FileOfRevision>(
  'conan_revisions_files',
  `select f.id, f.file_name, f.sha1 from conan_files c
   join package_files f on f.id = c.file_id and not f.is_pending_destruction
   where c.revision_id = :revision::bigint`,
);
const ADD_FILE = statement<{ file: number; revision: number }, never>(
  'conan_files_add',
  `insert into conan_files (file_id, revision_id) values (:file::bigint, :revision::bigint)`,
);
const SET_INFO = statement<{ revision: number; info: string }, never>(
  'conan_revisions_set_info',
  `update conan_revisions set info = :info where id = :revision::bigint`,
);

/** Adds uploaded files to revisions. Source: reference packages-and-admin 4.13. */
@Injectable()
export class ConanRevisions {
  constructor(
    private readonly work: Work,
    private readonly publishing: PackagePublishing,
    private readonly removal: PackageRemoval,
  ) {}

  /**
   * Adds a file, or replaces the one of its name while the revision is not complete. An equal file stays. Revisions of
   * version 1 of the protocol can always be replaced, because they have no digest. Errors: Conflict for another file in a
   * complete revision; those of `PackagePublishing`.
   */
  publishFile(target: ConanTarget, file: ConanContent): Promise<void> {
    return this.work.run((tx) => this.addFile(tx, target, file));
  }

  private async addFile(tx: Tx, target: ConanTarget, { content, info }: ConanContent): Promise<void> {
    const { project, viewer, reference, fileName } = target;
    const { name, version } = reference;
    const named = {
      ...{ project, creatorId: viewer.userId, type: 'conan' as const, name, version },
      nameKey: conanKeyOf(reference),
    };
    const packageId = await this.publishing.publishWithoutFile(tx, named);
    const revision = await ensureRevision(tx, packageId, target);
    const files = await tx.run(FILES, { revision });
    const earlier = files.find(({ file_name }) => file_name === fileName);
    if (earlier?.sha1 === content.sha1) return;
    if (earlier && files.some(({ file_name }) => file_name === MANIFEST))
      refuseConanFileChange(target.revision, fileName);
    const { id: file } = await this.publishing.publishFile(tx, { ...named, fileName, content });
    await tx.run(ADD_FILE, { file, revision });
    if (info !== null) await tx.run(SET_INFO, { revision, info });
    if (earlier) await this.removal.removeFiles(tx, project.id, [earlier.id]);
  }
}

async function ensureRevision(tx: Tx, packageId: number, { project, revision }: ConanTarget): Promise<number> {
  const { recipeRevision: recipe, binaryReference: binary, binaryRevision } = revision;
  const named = { package: packageId, project: project.id, recipe, binary, revision: binaryRevision };
  return (await tx.run(ENSURE, named))[0]!.id;
}

/** Refuses other content for a file of a complete revision. Errors: Conflict, unless version 1 wrote it. */
export function refuseConanFileChange({ recipeRevision }: ConanRevisionName, fileName: string): void {
  if (recipeRevision !== FIRST_REVISION) throw new Conflict(`${fileName} of a complete revision cannot be changed`);
}
