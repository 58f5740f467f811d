/** Internal routes of collaboration that give source code to registries. Source: ADR 0205. */

/**
 * POST sourceFile, answered by collaboration. Reads a file at a branch or tag, and keeps the commit for ever if the file
 * exists. Source: ADR 0205.
 */
export interface SourceFileRequest {
  readonly project_id: number;
  /** Full name of the ref. */
  readonly ref: string;
  readonly path: string;
  /** Larger files are not read. Units: bytes. */
  readonly max_bytes: number;
}

/** `commit` is null if the project has no such ref; `content` is base64, null for no file or one that is too large. */
export interface SourceFileAnswer {
  readonly commit: string | null;
  readonly content: string | null;
  readonly is_too_large: boolean;
}

/**
 * POST sourceArchive, answered by collaboration with a zip file as a stream. The answer is 404 without the commit, and
 * 429 beyond the limit of archives. `commit` is a full id. `prefix` is the folder that holds the files. Source: ADR
 * 0205.
 */
export interface SourceArchiveRequest {
  readonly project_id: number;
  readonly commit: string;
  readonly prefix: string;
  /** The caller whose archives are counted: id of the user, or address. */
  readonly caller: string;
}

/** POST sourceCommit, answered by collaboration. Finds a commit and reads files of it. Source: ADR 0205. */
export interface SourceCommitRequest {
  readonly project_id: number;
  /** Full name of a ref, branch, tag, or full or abbreviated id; null for the default branch. */
  readonly rev: string | null;
  readonly paths: readonly string[];
  /** Units: bytes. */
  readonly max_bytes: number;
  /** Keeps the commit for ever. */
  readonly keeps: boolean;
  readonly finds_tags: boolean;
}

export interface SourceCommit {
  /** Full id. */
  readonly id: string;
  /** Time of the committer, in ISO 8601 and UTC. */
  readonly committed_at: string;
  /**
   * Contents in base64, in the order of the requested paths. An item is null for a missing file and empty for one that
   * is too large.
   */
  readonly contents: readonly (string | null)[];
  /** Names of the tags that point at the commit; empty if they were not requested. */
  readonly tags: readonly string[];
}

/** `commit` is null if the project has no such commit. */
export interface SourceCommitAnswer {
  readonly commit: SourceCommit | null;
}

/** POST sourceTags, answered by collaboration. Lists tags whose names are the prefix and then a version. */
export interface SourceTagsRequest {
  readonly project_id: number;
  readonly prefix: string;
  /** Path of a file that tags may have. */
  readonly path: string;
  /** Full id of a commit that contains the tags; null for all tags. */
  readonly merged_into: string | null;
}

export interface SourceTag {
  readonly name: string;
  readonly has_file: boolean;
}

/** Bounds: the 1,000 highest versions. */
export interface SourceTagsAnswer {
  readonly tags: readonly SourceTag[];
}

/**
 * POST sourceModule, answered by collaboration with the files of a Go module as a zip file. The answer is 404 without
 * the commit and for a module that Go refuses, and 429 beyond the limit of archives. `commit` is a full id. `folder` is
 * the folder of the module. All names in the zip file begin with `prefix`.
 */
export interface SourceModuleRequest {
  readonly project_id: number;
  readonly commit: string;
  readonly folder: string;
  readonly prefix: string;
  /** The caller whose archives are counted: id of the user, or address. */
  readonly caller: string;
}
