import type { ProjectScope } from '@rookery/api-v4';
import { statement } from '@rookery/persistence';

/** New repositories are created here. */
export const STORAGE = 'default';

/** Place of a repository, and the contents that it still needs. */
export interface RepositoryRow {
  readonly storage: string;
  readonly copiesProjectId: number | null;
  readonly copiesBranch: string | null;
  /** A first commit with a README is still to be written. */
  readonly needsReadme: boolean;
}

const COLUMNS = `storage, copies_project_id as "copiesProjectId", copies_branch as "copiesBranch",
  needs_readme as "needsReadme"`;

interface NewRepository {
  readonly projectId: number;
  readonly storage: string;
  readonly source: number | null;
  readonly branch: string | null;
  readonly readme: boolean;
}

/** Adds the row of a repository, or returns the one that exists. */
export const addRepository = statement<NewRepository, RepositoryRow>(
  'repositories_add',
  `insert into repositories as kept (project_id, storage, copies_project_id, copies_branch, needs_readme)
   values (:projectId::bigint, :storage::text, :source::bigint, :branch::text, :readme::boolean)
   on conflict (project_id) do update set storage = kept.storage
   returning ${COLUMNS}`,
);
/** Returns the row of a repository. */
export const rowOfRepository = statement<{ projectId: number }, RepositoryRow>(
  'repositories_storage',
  `select ${COLUMNS} from repositories where project_id = :projectId::bigint`,
);

/** Returns the parameters of a new repository's row. */
export function toNewRepositoryParams({
  id,
  fork,
  initializeWithReadme: readme = false,
}: Pick<ProjectScope, 'id'> & Partial<Pick<ProjectScope, 'fork' | 'initializeWithReadme'>>): NewRepository {
  return { projectId: id, storage: STORAGE, source: fork?.project_id ?? null, branch: fork?.branch ?? null, readme };
}
