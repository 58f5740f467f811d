import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { PackageFileRow } from '../../packages/listing/packages.queries';
import { canReadProjectPackagesSql } from '../../packages/listing/readable-packages';
import { INSTALLABLE_STATUSES, literalListSql } from '../../packages/package-types';
import { conanKeyOf, MANIFEST } from './conan-reference';
import type { ConanReference, ConanRevisionName } from './conan-reference';

/** A revision with the time of its manifest. */
export interface ConanRevisionRow {
  readonly revision: string;
  readonly time: Date;
}

/** A binary package. `info` is the content of `conaninfo.txt`, or null if it is not shown. */
export interface ConanBinaryRow {
  readonly reference: string;
  readonly info: string | null;
}

/** A recipe that a search found. `key` is a result of `conanKeyOf`. */
export interface ConanRecipeMatch {
  readonly name: string;
  readonly version: string;
  readonly key: string;
}

/**
 * A search. `pattern` may contain `*` and `?`. It is null for every recipe. `protocol` chooses recipes with or without
 * revisions.
 */
export interface ConanSearch {
  readonly pattern: string | null;
  readonly ignoresCase: boolean;
  readonly protocol: ConanProtocol;
}

export type ConanProtocol = 'v1' | 'v2';
type ProjectParams = { readonly project: number };
type RecipeParams = ProjectParams & { readonly key: string; readonly version: string };
type SearchParams = {
  readonly pattern: string | null;
  readonly ignoresCase: boolean;
  readonly isFirst: boolean;
};
type ViewerParams = { readonly viewer: number | null; readonly isAdmin: boolean; readonly isExternal: boolean };

/** Bounds of lists. */
const MAX_ROWS = 1000;
/** Bound of the descriptions that one search shows. Units: bytes. */
const MAX_SHOWN_BYTES = 1024 ** 2;

const STATUSES = literalListSql(INSTALLABLE_STATUSES);
const RECIPE = `p.project_id = :project::bigint and p.package_type = 'conan' and p.name_key = :key
     and coalesce(p.version, '') = :version and p.status in (${STATUSES})`;
/** Joins the manifest of `r`, without which a revision is not complete. */
const COMPLETE = `join conan_files c on c.revision_id = r.id
   join package_files m on m.id = c.file_id and m.file_name = '${MANIFEST}' and not m.is_pending_destruction`;
const FIRST = `(r.recipe_revision = '0') = :isFirst::boolean`;

const RECIPE_REVISIONS = statement<RecipeParams & { count: number; isFirst: boolean }, ConanRevisionRow>(
  'conan_recipe_revisions',
  `select r.recipe_revision as revision, m.created_at as time
   from packages p
   join conan_revisions r on r.package_id = p.id and r.binary_reference = '' and ${FIRST}
   ${COMPLETE}
   where ${RECIPE}
   order by m.created_at desc, m.id desc limit :count::int`,
);
const BINARY_REVISIONS = statement<RecipeParams & { recipe: string; binary: string; count: number }, ConanRevisionRow>(
  'conan_binary_revisions',
  `select r.binary_revision as revision, m.created_at as time
   from packages p
   join conan_revisions r on r.package_id = p.id and r.recipe_revision = :recipe and r.binary_reference = :binary
   ${COMPLETE}
   where ${RECIPE}
   order by m.created_at desc, m.id desc limit :count::int`,
);
/** The newest revision of each binary package. */
const BINARIES = statement<RecipeParams & { recipe: string; isListOnly: boolean }, ConanBinaryRow>(
  'conan_binaries',
  `select reference, case when bytes <= ${MAX_SHOWN_BYTES} then info end as info from (
     select newest.*, sum(octet_length(coalesce(info, ''))) over (order by reference) as bytes from (
       select distinct on (r.binary_reference) r.binary_reference as reference,
         case when not :isListOnly::boolean then r.info end as info
       from packages p
       join conan_revisions r on r.package_id = p.id and r.recipe_revision = :recipe and r.binary_reference <> ''
       ${COMPLETE}
       where ${RECIPE}
       order by r.binary_reference, m.created_at desc, m.id desc limit ${MAX_ROWS}) newest) shown
   order by reference`,
);
const FILES = statement<RecipeParams & { recipe: string; binary: string; revision: string }, PackageFileRow>(
  'conan_files_of_revision',
  `select f.id, f.package_id, f.file_name, f.size, f.sha256, f.sha1, f.md5, f.created_at, f.updated_at
   from packages p
   join conan_revisions r on r.package_id = p.id and r.recipe_revision = :recipe and r.binary_reference = :binary
     and r.binary_revision = :revision
   join conan_files c on c.revision_id = r.id
   join package_files f on f.id = c.file_id and not f.is_pending_destruction
   where ${RECIPE} order by f.file_name`,
);

const lowerIfIgnoringCaseSql = (text: string): string =>
  `case when :ignoresCase::boolean then lower(${text}) else ${text} end`;
/** A pattern matches a whole reference, or its beginning up to a separator. */
const MATCHES = `(:pattern::text is null or ${[
  'p.name',
  `p.name || '/' || p.version`,
  `p.name || '/' || p.version || split_part(substr(p.name_key, length(p.name) + 1), '/', 1)`,
  `p.name || '/' || p.version || substr(p.name_key, length(p.name) + 1)`,
]
  .map((text) => `${lowerIfIgnoringCaseSql(text)} like :pattern`)
  .join(' or ')})`;
const FOUND = `p.package_type = 'conan' and p.status in (${STATUSES}) and ${MATCHES}
     and exists (select 1 from conan_revisions r ${COMPLETE} where r.package_id = p.id and r.binary_reference = '' and ${FIRST})
   order by p.name, p.version, p.name_key limit ${MAX_ROWS}`;
const SEARCH_PROJECT = statement<ProjectParams & SearchParams, ConanRecipeMatch>(
  'conan_search_of_project',
  `select p.name, p.version, p.name_key as key from packages p where p.project_id = :project::bigint and ${FOUND}`,
);
/** The registry of the instance has only recipes whose user is the path of their project. */
const SEARCH_INSTANCE = statement<ViewerParams & SearchParams, ConanRecipeMatch>(
  'conan_search_of_instance',
  `select p.name, p.version, p.name_key as key
   from packages p
   join directory_projects project on project.id = p.project_id
   join directory_namespaces home on home.id = project.namespace_id
   where starts_with(substr(p.name_key, length(p.name) + 2),
       replace(home.full_path || '/' || project.path, '/', '+') || '/')
     and ${canReadProjectPackagesSql()} and ${FOUND}`,
);

/** Reads of Conan packages. Source: reference packages-and-admin 4.13. */
@Injectable()
export class ConanQueries {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  /** Complete revisions of a recipe, the newest first, at most `count`. Errors: NotFound without any. */
  async recipeRevisions(
    project: Pick<ProjectScope, 'id'>,
    reference: ConanReference,
    { protocol, count = MAX_ROWS }: { readonly protocol: ConanProtocol; readonly count?: number },
  ): Promise<readonly ConanRevisionRow[]> {
    const asked = { ...recipeParams(project, reference), count, isFirst: protocol === 'v1' };
    return requireRows(await this.database.run(RECIPE_REVISIONS, asked));
  }

  /** Complete revisions of a binary package, the newest first, at most `count`. Errors: NotFound without any. */
  async binaryRevisions(
    project: Pick<ProjectScope, 'id'>,
    reference: ConanReference,
    { recipeRevision: recipe, binaryReference: binary }: Omit<ConanRevisionName, 'binaryRevision'>,
    count = MAX_ROWS,
  ): Promise<readonly ConanRevisionRow[]> {
    return requireRows(
      await this.database.run(BINARY_REVISIONS, { ...recipeParams(project, reference), recipe, binary, count }),
    );
  }

  /**
   * Binary packages of a complete revision of a recipe, by reference; without descriptions if `isListOnly`. Errors: NotFound
   * without the revision.
   */
  async listBinaries(
    project: Pick<ProjectScope, 'id'>,
    reference: ConanReference,
    recipeRevision: string,
    isListOnly: boolean,
  ): Promise<readonly ConanBinaryRow[]> {
    await this.listFiles(project, reference, { recipeRevision, binaryReference: '', binaryRevision: '' });
    return this.listBinariesOfRecipe(project, reference, recipeRevision, isListOnly);
  }

  /** Does the same as `listBinaries` for a revision that is known to be complete. */
  listBinariesOfRecipe(
    project: Pick<ProjectScope, 'id'>,
    reference: ConanReference,
    recipe: string,
    isListOnly: boolean,
  ): Promise<readonly ConanBinaryRow[]> {
    return this.database.run(BINARIES, { ...recipeParams(project, reference), recipe, isListOnly });
  }

  /** Files of a complete revision, by name. Errors: NotFound. */
  async listFiles(
    project: Pick<ProjectScope, 'id'>,
    reference: ConanReference,
    { recipeRevision: recipe, binaryReference: binary, binaryRevision: revision }: ConanRevisionName,
  ): Promise<readonly PackageFileRow[]> {
    const files = await this.database.run(FILES, { ...recipeParams(project, reference), recipe, binary, revision });
    return requireRows(files.some(({ file_name }) => file_name === MANIFEST) ? files : []);
  }

  /** A file of a complete revision. Errors: NotFound. */
  async findFile(
    project: Pick<ProjectScope, 'id'>,
    reference: ConanReference,
    revision: ConanRevisionName,
    name: string,
  ): Promise<PackageFileRow> {
    const files = await this.listFiles(project, reference, revision);
    const [file] = requireRows(files.filter(({ file_name }) => file_name === name));
    return file!;
  }

  /** Recipes with a complete revision, by reference, of a project or of the instance (null). */
  async searchRecipes(
    project: ProjectScope | null,
    viewer: Viewer,
    search: ConanSearch,
  ): Promise<readonly ConanRecipeMatch[]> {
    const { ignoresCase, protocol } = search;
    const asked = { pattern: toLikePattern(search), ignoresCase, isFirst: protocol === 'v1' };
    if (project !== null) return this.database.run(SEARCH_PROJECT, { ...asked, project: project.id });
    await this.directory.requireFresh(viewer);
    const { userId, isAdmin, isExternal } = viewer;
    return this.database.run(SEARCH_INSTANCE, { ...asked, viewer: userId, isAdmin, isExternal });
  }
}

function recipeParams({ id: project }: Pick<ProjectScope, 'id'>, reference: ConanReference): RecipeParams {
  return { project, key: conanKeyOf(reference), version: reference.version };
}

function requireRows<R>(rows: readonly R[]): readonly R[] {
  if (rows.length === 0) throw new NotFound();
  return rows;
}

function toLikePattern({ pattern, ignoresCase }: ConanSearch): string | null {
  if (pattern === null || pattern === '') return null;
  const like = pattern
    .replace(/[\\%_]/g, '\\$&')
    .replaceAll('*', '%')
    .replaceAll('?', '_');
  return ignoresCase ? like.toLowerCase() : like;
}
