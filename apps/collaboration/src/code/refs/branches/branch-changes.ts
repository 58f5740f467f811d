import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import {
  isRefName,
  listRefs,
  NO_OBJECT,
  readCommits,
  readHead,
  readRef,
  resolveCommit,
  writeBlobs,
  writeCommit,
  writeTree,
} from '@rookery/git';
import type { ObjectId, RefUpdate, Repository } from '@rookery/git';
import { NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { CommitIdentities } from '../../repositories/commit-identities';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { RefChanges } from '../../repositories/ref-updates/ref-changes';
import { BRANCHES, Branches, findBranch } from './branches';
import type { BranchRow } from './branches';

/** The project whose branches are changed, and the caller. */
export interface BranchWriter {
  readonly project: ProjectScope;
  readonly viewer: SignedInViewer;
}

/** Creates and deletes branches. Source: reference repositories 5.3. */
@Injectable()
export class BranchChanges {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly changes: RefChanges,
    private readonly identities: CommitIdentities,
    private readonly branches: Branches,
  ) {}

  /** Creates a branch. Errors: Refused. */
  async create(writer: BranchWriter, { branch, ref }: { branch: string; ref: string }): Promise<BranchRow> {
    if (!isRefName(`${BRANCHES}${branch}`)) throw createVerbatimRefusal('Branch name is invalid');
    await this.repositories.useRepository(writer.project, async (repository) => {
      const write = (view: Repository) => this.planNewBranch(view, writer, branch, ref);
      const outcome = await this.changes.changeRefs(repository, { ...writer, write });
      if (outcome.moved) return;
      if (outcome.why === 'changed') throw createVerbatimRefusal('Branch already exists');
      if (outcome.why === 'hierarchy')
        throw createBranchCreationRefusal(branch, 'Branch name conflicts with existing branch hierarchy.');
      throw createVerbatimRefusal(outcome.refusal);
    });
    return this.branches.findBranch(writer, branch);
  }

  /** Deletes a branch. `check` gets the date of the commit at its tip. Errors: NotFound; Refused; those of `check`. */
  remove(writer: BranchWriter, name: string, check: (updatedAt: Date) => void): Promise<void> {
    return this.repositories.useRepository(writer.project, async (repository) => {
      const branch = await findBranch(repository, name);
      if (branch === null) throw new NotFound('Branch');
      const [tip] = await readCommits(repository, [branch.id]);
      if (tip) check(new Date(tip.author.seconds * 1000));
      const write = () => Promise.resolve([{ ref: branch.name, oldId: branch.id, newId: NO_OBJECT }]);
      const outcome = await this.changes.changeRefs(repository, { ...writer, write });
      if (!outcome.moved) throw createVerbatimRefusal(outcome.refusal);
    });
  }

  private async planNewBranch(view: Repository, writer: BranchWriter, name: string, ref: string): Promise<RefUpdate[]> {
    const full = `${BRANCHES}${name}`;
    if ((await readRef(view, full)) !== null) throw createVerbatimRefusal('Branch already exists');
    const id = await resolveCommit(view, ref);
    if (id !== null) return [{ ref: full, oldId: NO_OBJECT, newId: id }];
    const head = await readHead(view);
    const isOfDefault = [head, head.slice(BRANCHES.length), 'HEAD'].includes(ref);
    if (!isOfDefault || (await listRefs(view, { under: ['refs/heads'], max: 1 })).length > 0)
      throw createBranchCreationRefusal(name, `invalid reference name '${ref}'`);
    const first = await this.writeFirstCommit(view, writer);
    return [...new Set([head, full])].map((one) => ({ ref: one, oldId: NO_OBJECT, newId: first }));
  }

  /** An empty repository gets a commit with an empty file, so that a branch can begin there. */
  private async writeFirstCommit(view: Repository, { viewer }: BranchWriter): Promise<ObjectId> {
    const [blob] = await writeBlobs(view, [Buffer.alloc(0)], 1);
    const entry = { mode: '100644', type: 'blob', id: blob!, path: 'README.md', size: null } as const;
    const author = await this.identities.findIdentity(viewer);
    const tree = await writeTree(view, [entry]);
    return writeCommit(view, { tree, parents: [], message: 'Add README.md', author, committer: author });
  }
}

function createBranchCreationRefusal(branch: string, reason: string): Refused {
  return createVerbatimRefusal(`Failed to create branch '${branch}': ${reason}`);
}

function createVerbatimRefusal(text: string): Refused {
  return new Refused(text, { verbatim: true });
}
