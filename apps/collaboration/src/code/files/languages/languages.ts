import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { listTree, resolveCommit } from '@rookery/git';
import type { ObjectId, TreeEntry } from '@rookery/git';
import { LRUCache } from 'lru-cache';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { languageFinder } from './language-finder';
import type { LanguageFinder } from './language-finder';

/** Share of each language, the largest first. Units: percent of the bytes, with two digits. */
export type LanguageShares = Readonly<Record<string, number>>;

const MOST_CACHED = 10_000;
const SYMBOLIC_LINK = '120000';
/** Folders of code that others wrote, and generated files. Source: reference repositories 3.8. */
const FOREIGN = /(?:^|\/)(?:node_modules|bower_components|vendors?|third[-_]party)\/|[.-]min\.(?:js|css)$/i;

/**
 * Languages of repositories, by the names of the files on the default branch. One listing of the tree is enough, and
 * its result is cached by commit. Bounds: 10,000 commits; a tree whose listing has more than 64 MiB is too large.
 */
@Injectable()
export class Languages {
  private readonly known = new LRUCache<ObjectId, LanguageShares>({ max: MOST_CACHED });

  constructor(private readonly repositories: ProjectRepositories) {}

  /** Returns the languages of the default branch. The result is empty for an empty repository. Errors: TooLarge. */
  listShares(project: ProjectScope): Promise<LanguageShares> {
    return this.repositories.useRepository(project, async (repository) => {
      const commit = await resolveCommit(repository, 'HEAD');
      if (commit === null) return {};
      const known = this.known.get(commit);
      if (known) return known;
      const entries = await listTree(repository, { id: commit, isRecursive: true });
      const shares = computeShares(entries, await languageFinder());
      this.known.set(commit, shares);
      return shares;
    });
  }
}

function computeShares(entries: readonly TreeEntry[], find: LanguageFinder): LanguageShares {
  const bytes = new Map<string, number>();
  for (const { type, mode, path, size } of entries) {
    if (type !== 'blob' || mode === SYMBOLIC_LINK || FOREIGN.test(path)) continue;
    const language = find(path.slice(path.lastIndexOf('/') + 1));
    if (language !== null) bytes.set(language, (bytes.get(language) ?? 0) + (size ?? 0));
  }
  const total = [...bytes.values()].reduce((sum, count) => sum + count, 0);
  const shares = [...bytes].filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
  return Object.fromEntries(shares.map(([name, count]) => [name, Math.round((count / total) * 10_000) / 100]));
}
