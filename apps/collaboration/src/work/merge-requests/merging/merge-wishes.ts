/** Wishes of a merge call. Null means that the call does not contain the value. */
export interface MergeWishes {
  readonly mergeMessage: string | null;
  readonly squashMessage: string | null;
  readonly removesSource: boolean | null;
  readonly isAutomatic: boolean;
  readonly sha: string | null;
  readonly squash: boolean;
  /** Whether the automatic merge executes now; `isAutomatic` asks to set one. */
  readonly isExecutedByAutoMerge?: boolean;
}
