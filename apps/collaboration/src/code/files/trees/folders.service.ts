import { Injectable } from '@nestjs/common';
import { findTree, isTreePath, readSortedTreeRecursively, readSortedTree, resolveCommit } from '@rookery/git';
import type { ObjectId, Repository, SortedTree, TreeEntry } from '@rookery/git';
import { NotFound } from '@rookery/kernel';
import { LRUCache } from 'lru-cache';
import { ProjectRepositories } from '../../repositories/project-repositories';
import type { RepositoryOwner } from '../../repositories/project-repositories';

/**
 * Folder of a repository at a revision. Without `ref`, the revision is the default branch. An empty path is the root.
 */
export interface FolderAddress {
  readonly ref?: string;
  readonly path: string;
  readonly recursive: boolean;
}

/** Memory for recursive listings of all repositories, and for a single one. Units: bytes. */
const KEPT_BYTES = 64 * 1024 * 1024;
const KEPT_LISTING_BYTES = 32 * 1024 * 1024;

/** Listing of a folder, of which pages are read. */
export class Folder {
  constructor(
    private readonly tree: SortedTree,
    private readonly path: string,
  ) {}

  get length(): number {
    return this.tree.length;
  }

  /** Returns the entries from an index on. Paths start at the root of the repository. */
  entries(start = 0, end = this.length): TreeEntry[] {
    const prefix = this.path === '' ? '' : `${this.path}/`;
    return this.tree.readEntries(start, end).map((entry) => ({ ...entry, path: prefix + entry.path }));
  }

  /** Token of the page that begins at an index. */
  tokenAt(index: number): string {
    return this.tree.keyAt(index - 1).toString('base64url');
  }

  /** Index at which the page of a token begins, also if the folder has changed meanwhile. */
  indexOf(token: string): number {
    return this.tree.indexAfter(Buffer.from(token, 'base64url'));
  }
}

/** Folders of repositories. Recursive listings are kept for the following pages, by the id of their tree. */
@Injectable()
export class FoldersService {
  private readonly kept = new LRUCache<ObjectId, SortedTree>({
    maxSize: KEPT_BYTES,
    maxEntrySize: KEPT_LISTING_BYTES,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  });

  constructor(private readonly repositories: ProjectRepositories) {}

  /** Lists a folder. Errors: NotFound for an unknown revision, or for a path that is no folder. */
  list(project: RepositoryOwner, { ref = '', path, recursive }: FolderAddress): Promise<Folder> {
    return this.repositories.useRepository(project, async (repository) => {
      const commit = await resolveCommit(repository, ref === '' ? 'HEAD' : ref);
      if (commit === null) throw new NotFound('Tree');
      const plain = path.replace(/\/$/, '');
      const tree = plain === '' || isTreePath(plain) ? await findTree(repository, commit, plain) : null;
      const listing =
        tree && (await (recursive ? this.readWholeTree(repository, tree) : readSortedTree(repository, tree)));
      if (listing === null) throw new NotFound('invalid revision or path');
      return new Folder(listing, plain);
    });
  }

  private async readWholeTree(repository: Repository, tree: ObjectId): Promise<SortedTree> {
    const known = this.kept.get(tree);
    if (known) return known;
    const listing = await readSortedTreeRecursively(repository, tree);
    this.kept.set(tree, listing);
    return listing;
  }
}
