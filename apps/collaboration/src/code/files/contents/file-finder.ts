import { Injectable } from '@nestjs/common';
import { isTreePath, lastCommitOf, objectInfo, readEntry, resolveCommit } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { NotFound } from '@rookery/kernel';
import { LRUCache } from 'lru-cache';
import { BlobContents } from '../blobs/blob-contents';
import type { BlobContent } from '../blobs/blob-contents';

/** A file at a commit with the facts that its answers name. */
export interface FileAtRef {
  readonly path: string;
  /** The revision as the caller named it. */
  readonly ref: string;
  readonly commit: ObjectId;
  /** Newest commit that changed the file. */
  readonly lastCommit: ObjectId;
  readonly isExecutable: boolean;
  readonly blob: BlobContent;
}

const MAX_KNOWN = 50_000;
const EXECUTABLE = '100755';

/** Finds files at revisions. The last commit of a file costs a walk of the history, so it is kept by commit and path. */
@Injectable()
export class FileFinder {
  private readonly lastCommits = new LRUCache<string, ObjectId>({ max: MAX_KNOWN });

  constructor(private readonly blobs: BlobContents) {}

  /** Errors: NotFound for an unknown revision, and for a path that is missing or no file. */
  async findFile(
    repository: Repository,
    { ref, path }: { readonly ref: string; readonly path: string },
  ): Promise<FileAtRef> {
    const commit = await resolveCommit(repository, ref);
    if (commit === null) throw new NotFound('Commit');
    const entry = isTreePath(path) ? await readEntry(repository, commit, path) : null;
    const info = entry?.type === 'blob' ? await objectInfo(repository, { rev: entry.id }) : null;
    if (entry === null || info === null) throw new NotFound('File');
    const [blob, lastCommit] = await Promise.all([
      this.blobs.readBlob(repository, info),
      this.findLastCommitOfFile(repository, commit, path),
    ]);
    return { path, ref, commit, lastCommit, isExecutable: entry.mode === EXECUTABLE, blob };
  }

  /** Returns the newest commit up to `commit` that changed a file; the commit itself if the history has none. */
  private async findLastCommitOfFile(repository: Repository, commit: ObjectId, path: string): Promise<ObjectId> {
    return (await this.lastChangeOf(repository, commit, path)) ?? commit;
  }

  /** Returns the newest commit up to `commit` that changed a path, null if there is none or the path is none. */
  async lastChangeOf(repository: Repository, commit: ObjectId, path: string): Promise<ObjectId | null> {
    if (!isTreePath(path)) return null;
    const key = `${commit} ${path}`;
    const known = this.lastCommits.get(key);
    if (known) return known;
    const found = await lastCommitOf(repository, commit, path);
    if (found) this.lastCommits.set(key, found);
    return found;
  }
}
