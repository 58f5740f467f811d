import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { mayReadCode } from '@rookery/directory';
import { isRefName, listRefNames, listRefs, readHead, readRef } from '@rookery/git';
import type { Commit, NamedRef, ObjectId, RefName, RefOrder, Repository } from '@rookery/git';
import { NotFound } from '@rookery/kernel';
import type { PageRequest, Viewer } from '@rookery/kernel';
import { RefProtections } from '../../protected-refs/ref-protections';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { readPeeledCommits } from '../listing/ref-commits';
import { refPage } from '../listing/ref-page';
import type { ListedRef, RefPage } from '../listing/ref-page';
import { createRefRegexFilter, createRefSearchFilter, moveExactRefMatchFirst } from '../listing/ref-search';

export const BRANCHES = 'refs/heads/';

/** Filters, order and page of a list of branches, with the names of the API parameters. */
export interface BranchQuery {
  readonly search?: string;
  readonly regex?: string;
  readonly sort: 'name_asc' | 'updated_asc' | 'updated_desc';
  readonly pagination: 'legacy' | 'keyset';
  readonly page_token?: string;
}

/** A branch with what its answer needs. */
export interface BranchRow {
  readonly name: string;
  readonly commit: Commit;
  /** Full path of the project, for URLs. */
  readonly projectPath: string;
  /** The default branch contains its tip. */
  readonly isMerged: boolean;
  readonly isDefault: boolean;
  readonly isProtected: boolean;
  readonly canDevelopersPush: boolean;
  readonly canDevelopersMerge: boolean;
  readonly canPush: boolean;
}

/** The project whose branches are read, and the reader. */
export interface BranchReader {
  readonly project: ProjectScope;
  readonly viewer: Viewer;
}

/** Branch that `HEAD` names. `tip` is null if it does not exist. */
interface DefaultBranchTip {
  readonly name: RefName;
  readonly tip: ObjectId | null;
}

const ORDERS: Readonly<Record<BranchQuery['sort'], RefOrder>> = {
  name_asc: 'name',
  updated_asc: 'updated',
  updated_desc: '-updated',
};

/** Branches of repositories. Source: reference repositories 5.1. */
@Injectable()
export class Branches {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly protections: RefProtections,
  ) {}

  /** Lists branches. Commits and merges are looked up for the page only. Errors: Refused, Unprocessable. */
  list(reader: BranchReader, query: BranchQuery, page: PageRequest): Promise<RefPage<BranchRow>> {
    const isKeyset = query.pagination === 'keyset';
    const position = {
      ...{ page, isKeyset, token: query.page_token },
      nameOrder: query.sort === 'name_asc' ? ('asc' as const) : null,
    };
    const filters = [
      ...(query.search ? [createRefSearchFilter(query.search)] : []),
      ...(query.regex ? [createRefRegexFilter(query.regex)] : []),
    ];
    return this.repositories.useRepository(reader.project, async (repository) => {
      const [refs, head] = await Promise.all([
        listRefNames(repository, { under: 'refs/heads', order: ORDERS[query.sort] }),
        readHead(repository),
      ]);
      const defaultBranch = { name: head, tip: refs.find(({ name }) => name === head)?.id ?? null };
      const found = refs.map(toListedBranch).filter(({ shortName }) => filters.every((fits) => fits(shortName)));
      const ordered = query.search && !isKeyset ? moveExactRefMatchFirst(found, query.search) : found;
      return refPage(ordered, position, (shown) => this.loadBranchRows(repository, reader, shown, defaultBranch));
    });
  }

  /** Returns one branch. Errors: NotFound. */
  findBranch(reader: BranchReader, name: string): Promise<BranchRow> {
    return this.repositories.useRepository(reader.project, async (repository) => {
      const [ref, head] = await Promise.all([findBranch(repository, name), readHead(repository)]);
      const tip = ref === null || ref.name === head ? null : await readRef(repository, head);
      const [row] = ref === null ? [] : await this.loadBranchRows(repository, reader, [ref], { name: head, tip });
      if (row === undefined) throw new NotFound('Branch');
      return row;
    });
  }

  private async loadBranchRows(
    repository: Repository,
    reader: BranchReader,
    refs: readonly ListedRef[],
    defaultBranch: DefaultBranchTip,
  ): Promise<BranchRow[]> {
    const { project, viewer } = reader;
    const [commits, merged, access] = await Promise.all([
      readPeeledCommits(
        repository,
        refs.map(({ id }) => id),
      ),
      findMergedBranches(repository, refs, defaultBranch),
      this.protections.readAccess(reader),
    ]);
    const isWritable = !project.archived && mayReadCode(viewer, project);
    return refs.flatMap(({ name, shortName }, index): BranchRow[] => {
      const commit = commits[index];
      // A branch that no longer leads to a commit is damaged, and not listed.
      if (!commit) return [];
      const { isProtected, mayPush, canDevelopersPush, canDevelopersMerge } = access.branchAccess(shortName);
      return [
        {
          ...{ name: shortName, isMerged: merged.has(name), isDefault: name === defaultBranch.name },
          ...{ commit, projectPath: project.fullPath },
          ...{ isProtected, canDevelopersPush, canDevelopersMerge, canPush: isWritable && mayPush },
        },
      ];
    });
  }
}

/** The default branch itself is not merged. */
async function findMergedBranches(
  repository: Repository,
  refs: readonly ListedRef[],
  { name: head, tip }: DefaultBranchTip,
): Promise<ReadonlySet<RefName>> {
  const under = refs.map(({ name }) => name).filter((name) => name !== head);
  if (tip === null || under.length === 0) return new Set();
  const merged = await listRefs(repository, { under, mergedInto: tip });
  return new Set(merged.map(({ name }) => name));
}

/** Returns a branch by its short name, null if there is none. */
export async function findBranch(repository: Repository, name: string): Promise<ListedRef | null> {
  const full = `${BRANCHES}${name}`;
  const id: ObjectId | null = isRefName(full) ? await readRef(repository, full) : null;
  return id === null ? null : toListedBranch({ name: full as RefName, id });
}

function toListedBranch({ name, id }: NamedRef): ListedRef {
  return { name, id, shortName: name.slice(BRANCHES.length) };
}
