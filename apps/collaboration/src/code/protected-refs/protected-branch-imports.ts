import { Injectable } from '@nestjs/common';
import type { ImportedObject } from '@rookery/contracts';
import type { ProjectFacts } from '@rookery/directory';
import { Invalid } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { checkImportObjects } from '../../base/imported-objects/imported-objects';
import { ObjectImporters } from '../../base/imported-objects/object-importers';
import type { ObjectImporter, PreparedObjects, ReceivedObjects } from '../../base/imported-objects/object-importers';
import { DEFAULT_LEVEL } from './access-levels';

type ImportedProtectedBranch = ImportedObject<'protected_branch'>;

interface ImportedRulesParams {
  readonly project: number;
  readonly names: readonly string[];
  readonly forces: readonly boolean[];
  readonly levels: readonly number[];
  readonly merge: number;
}
/**
 * A rule that exists may be that of the first push to the default branch, or one that a maintainer made meanwhile. An import only
 * makes it stricter, and only while it was never changed.
 */
const PROTECT = statement<ImportedRulesParams, never>(
  'protected_branches_import',
  `insert into protected_branches as b (project_id, name, allow_force_push, push_levels, merge_levels, unprotect_levels)
   select :project::bigint, r.name, r.force, array[r.level], array[:merge::integer], array[:merge::integer]
   from unnest(:names::text[], :forces::boolean[], :levels::integer[]) as r (name, force, level) order by r.name
   on conflict (project_id, name) do update set
     allow_force_push = b.allow_force_push and excluded.allow_force_push,
     push_levels = case when excluded.push_levels = array[0] then excluded.push_levels else b.push_levels end, updated_at = greatest(now(), b.updated_at + interval '1 millisecond')
   where b.updated_at = b.created_at`,
);
const NO_ONE = 0;
/** Units: characters. */
const MAX_NAME = 255;

/** Protects branches of an imported project as upstream does. Source: reference identity-and-import 6.6. */
@Injectable()
export class ProtectedBranchImports implements ObjectImporter<'protected_branch'> {
  constructor(importers: ObjectImporters) {
    importers.declare('protected_branch', this);
  }

  prepare(_: ProjectFacts, { objects }: ReceivedObjects<'protected_branch'>): Promise<PreparedObjects> {
    return Promise.resolve({ write: (tx, { id }) => importProtectedBranches(tx, id, objects) });
  }
}

async function importProtectedBranches(tx: Tx, project: number, objects: readonly ImportedProtectedBranch[]) {
  const { valid, failed } = checkImportObjects(objects, checkImportedBranch);
  const branches = [...new Map(valid.map(({ object }) => [object.name, object])).values()];
  await tx.run(PROTECT, {
    ...{ project, merge: DEFAULT_LEVEL },
    names: branches.map(({ name }) => name),
    forces: branches.map(({ allows_force_push: force }) => force),
    levels: branches.map(({ needs_merge_request: needs }) => (needs ? NO_ONE : DEFAULT_LEVEL)),
  });
  return failed;
}

/** An asterisk would protect other branches, too. Errors: Invalid. */
function checkImportedBranch(branch: ImportedProtectedBranch): ImportedProtectedBranch {
  if (branch.name === '' || branch.name.length > MAX_NAME || branch.name.includes('*')) {
    throw new Invalid({ name: ['is invalid'] });
  }
  return branch;
}
