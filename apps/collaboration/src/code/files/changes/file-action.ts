import type { ProjectScope } from '@rookery/api-v4';

/** Change of one file in a new commit. Source: reference repositories 3.6. */
export type FileAction = {
  readonly path: string;
  /** Last commit of the file that the caller knows; a newer one refuses the change. */
  readonly lastCommitId?: string | undefined;
} & (
  | { readonly kind: 'create'; readonly content: Buffer; readonly isExecutable?: boolean | undefined }
  | { readonly kind: 'update'; readonly content: Buffer; readonly isExecutable?: boolean | undefined }
  /** The file keeps its bytes if `content` is omitted. */
  | { readonly kind: 'move'; readonly previousPath: string; readonly content?: Buffer | undefined }
  | { readonly kind: 'delete' }
  | { readonly kind: 'chmod'; readonly isExecutable: boolean }
);

/** New commit that a caller requests. */
export interface CommitRequest {
  readonly branch: string;
  readonly message: string;
  readonly actions: readonly FileAction[];
  /** Branch on which the commit builds. Default: `branch`. */
  readonly startBranch?: string | undefined;
  /** Commit on which the commit builds, in place of a branch. */
  readonly startSha?: string | undefined;
  /** Project of the fork network that has the start; default: the project of the commit. */
  readonly startProject?: ProjectScope | undefined;
  /** Overwrites an existing branch. */
  readonly isForced: boolean;
  /** Author in place of the caller. */
  readonly author: { readonly name: string; readonly email: string } | null;
}

/** Bytes of an action that are written as a blob; null if it has none. */
export function blobContentOfAction(action: FileAction): Buffer | null {
  return 'content' in action ? (action.content ?? null) : null;
}

/** Path of the file that an action changes, before the action. */
export function changedPathOf(action: FileAction): string {
  return action.kind === 'move' ? action.previousPath : action.path;
}
