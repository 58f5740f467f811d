import { ability, project } from '@rookery/api-v4';
import type { Call, Permission, ProjectScope, RuleServices } from '@rookery/api-v4';
import { mayReadCode } from '@rookery/directory';
import { Forbidden, NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { RefProtections } from '../protected-refs/ref-protections';
import { hasRepository, mayPushCode } from './code-access.policy';

/** Permits callers who may read the code of the project. */
const readsCode: Permission<unknown, ProjectScope, Viewer> = ability('may read code', ({ viewer, within }) =>
  mayReadCode(viewer, within),
);

/** Whether the caller may read the history of a project. Errors: NotFound if it has no repository for the caller. */
export function mayReadHistory(viewer: Viewer, project: ProjectScope): boolean {
  if (!hasRepository(viewer, project)) throw new NotFound('Repository');
  return mayReadCode(viewer, project);
}

/** Permits callers who may read the history of the project. Errors: NotFound. */
const readsHistory: Permission<unknown, ProjectScope, Viewer> = ability('may read history', ({ viewer, within }) =>
  mayReadHistory(viewer, within),
);

/** Permits callers who may push to the project, unless it is archived. The rules of the ref follow in the handler. */
const pushesCode = ability<unknown, ProjectScope>(
  'may push code',
  ({ viewer, within }) => !within.archived && mayPushCode(viewer, within),
  { signedIn: true },
);

/** Whether the caller may push to the project, or to a branch that a merge request shares with them. */
export async function mayPushToSomeBranch(
  { viewer, within }: Call<unknown, ProjectScope>,
  services: RuleServices,
): Promise<boolean> {
  if (mayPushCode(viewer, within)) return true;
  if (!mayReadCode(viewer, within)) return false;
  return (await services.get<RefProtections>(RefProtections).readAccess({ viewer, project: within })).mayPushSome;
}

/** Permits callers who may push to a branch of the project. The handler checks the branch. */
const pushesSome = ability<unknown, ProjectScope>(
  'may push some code',
  async (call, services) => !call.within.archived && (await mayPushToSomeBranch(call, services)),
  { signedIn: true },
);

const refusals = { anonymousAs: () => new Forbidden() } as const;

/** Options of routes that read files: tree, blobs, files, archive, tags. Source: reference repositories 2.1. */
export const readsFilesOf = { within: project(), may: readsCode, refusals } as const;
/** Options of routes that read history: commits, branches, comparison. Source: reference repositories 2.1. */
export const readsHistoryOf = { within: project(), may: readsHistory, refusals } as const;
/** Options of routes that need the right to push, but write rows only. Source: reference repositories 7.2. */
export const managesCodeOf = { within: project(), may: pushesCode } as const;
/** Options of routes that write to the repository. Refs move outside of transactions. Source: reference repositories 2.1. */
export const writesCodeOf = { ...managesCodeOf, takesNoKey: true } as const;
/** Options of routes that add commits to a branch, which a merge request may share with callers of another project. */
export const addsCommitsOf = { within: project(), may: pushesSome, takesNoKey: true } as const;
