export { gitSettings } from './git.config';
export { GitModule } from './git.module';
export { GitBusy, GitError } from './process/git-error';
export type { GitReason } from './process/git-error';
export type { RunningGit } from './process/git-run';
export { TRANSPORT_WAIT_MS } from './process/process-slots';
export { gitProblem } from './process/version';
export { hashedRepositoryPath, Repositories } from './repository/repositories';
export type { Repository, RepositoryAddress } from './repository/repository';
export { countObjects, measureMaintenanceBacklog, packRepository } from './repository/maintenance';
export type { ObjectCounts, MaintenanceBacklog } from './repository/maintenance';
export { EMPTY_TREE, isObjectId, NO_OBJECT, objectId } from './names/object-id';
export type { ObjectId } from './names/object-id';
export type { GitObject, ObjectInfo, ObjectType } from './repository/object-reader';
export { findBlob, objectInfo, readObject, readObjects, resolveCommit, streamBlob } from './objects/objects';
export type { ObjectName } from './objects/objects';
export type { TreeEntry } from './objects/parse-tree';
export { readSortedTreeRecursively, readSortedTree, SortedTree } from './objects/sorted-tree';
export { findLargeFiles } from './objects/large-files';
export type { LargeFile } from './objects/large-files';
export { inQuarantine, quarantinedBytes, withObjectsOf } from './objects/quarantine';
export type { ObjectWrite } from './objects/quarantine';
export { isTreePath, isWritableTreePath } from './names/tree-path';
export { findTree, listTree, readEntry, readTree } from './objects/trees';
export type { TreeListing } from './objects/trees';
export { TreeEditor } from './objects/tree-editor';
export { writeBlobs, writeCommit, writeTag, writeTree } from './objects/write-objects';
export type { Identity, NewCommit } from './objects/write-objects';
export { isRefName, isValidBranchOrTagName, refName } from './names/ref-name';
export type { RefName } from './names/ref-name';
export type { Ref } from './refs/parse-refs';
export { listRefNames, listRefs, readHead, readRef, readRefs, setHead } from './refs/refs';
export type { NamedRef, RefOrder, RefQuery } from './refs/refs';
export { removeStaleRefLocks } from './refs/stale-ref-locks';
export { updateRefs } from './refs/update-refs';
export type { RefFailure, RefOutcome, RefUpdate } from './refs/update-refs';
export {
  listChangedFiles,
  listChangesWithLineCounts,
  openDiff,
  openEmailPatches,
  readHunks,
  readPatches,
  readPatchId,
} from './history/diffs';
export type { DiffQuery, FileHunks, PatchQuery } from './history/diffs';
export type { Hunk } from './history/parse-hunks';
export {
  blameFile,
  countCommits,
  countDivergingCommits,
  isAncestor,
  lastCommitOf,
  listCommitIds,
  listCommits,
  listContributors,
  mergeBase,
  readCommits,
  readCommitLineCounts,
} from './history/history';
export type { CommitQuery } from './history/history';
export type { LineCounts } from './history/parse-line-counts';
export { mergeTreesOverBase, mergeCommitsToTree } from './history/merges';
export type { BlamedLine } from './history/parse-blame';
export { parseCommit, parseTag } from './history/parse-commit';
export type { AnnotatedTag, Commit, Signature } from './history/parse-commit';
export type { Contributor } from './history/parse-contributors';
export type { FileChange } from './history/parse-diff';
export type { FilePatch } from './history/parse-patches';
export type { MergeMessage, MergeOutcome } from './history/parse-merge-tree';
export { parseTrailers } from './history/trailers';
export type { Trailer } from './history/trailers';
export { openArchive } from './transport/archive';
export type { ArchiveFormat } from './transport/archive';
export { pushToInternalService } from './transport/push-to-internal-service';
export { fetchCommit, forkRepository } from './transport/fetch-inside';
export { fetchRemote } from './transport/fetch-remote';
export type { RemoteFetch } from './transport/fetch-remote';
export { openAdvertisement, receivePack, uploadPack } from './transport/pack-services';
export type { PackRequest, PackService } from './transport/pack-services';
export { PushHooks } from './transport/push-hooks';
export type { Push, PushChecks, PushTicket } from './transport/push-hooks';
