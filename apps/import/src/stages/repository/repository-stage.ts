import { Inject, Injectable } from '@nestjs/common';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { Egress, EgressError } from '@rookery/egress';
import { fetchRemote, GitBusy, GitError, listRefNames, pushToInternalService, Repositories } from '@rookery/git';
import type { Repository } from '@rookery/git';
import { InternalKeys, platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { importSettings } from '../../import.config';
import { webOriginOf } from '../../sources/upstream-hosts';
import { ImportStageFailed } from '../stage-failure';
import type { FailedObject } from '../stage-failure';
import { listImportedMergeRequestRefs, isImportedMergeRequestRef, splitImportableRefs } from './imported-refs';

/** Repository to import. */
export interface RepositorySource {
  readonly projectId: number;
  /** Without credentials. */
  readonly cloneUrl: string;
  /** Address of the API of the host that the user named; null for an import of the repository alone. */
  readonly apiUrl: string | null;
  /** `user:password`, or null for a public repository. */
  readonly credentials: string | null;
  readonly defaultBranch: string | null;
  /** Pattern of the host's refs for heads of merge requests; null for an import without merge requests. */
  readonly heads: string | null;
}

/** Checked between fetching and storing. Errors: those that end the stage. */
type Checkpoint = () => Promise<void>;

const REFS_SUFFIX = '/info/refs';

/**
 * Imports branches, tags and heads of merge requests: fetches them into a scratch repository, and pushes them to the
 * repository of the project. Another run changes only what upstream has changed.
 * Source: reference identity-and-import 6.6; ADR 0191.
 */
@Injectable()
export class RepositoryImportStage {
  constructor(
    private readonly repositories: Repositories,
    private readonly egress: Egress,
    @Inject(InternalKeys) private readonly keys: InternalKeys,
    @Inject(platformSettings.token) private readonly platform: SettingsOf<typeof platformSettings>,
    @Inject(importSettings.token) private readonly settings: SettingsOf<typeof importSettings>,
  ) {}

  /** Returns the refs that could not be imported. Errors: ImportStageFailed; the reason of the signal. */
  async run(source: RepositorySource, checkpoint: Checkpoint, signal: AbortSignal): Promise<readonly FailedObject[]> {
    try {
      return await this.repositories.useScratch(async (scratch) => {
        await this.fetchUpstream(scratch, source, signal);
        await checkpoint();
        return await this.pushToProject(scratch, source, signal);
      });
    } catch (error) {
      signal.throwIfAborted();
      throw toStageError(error);
    }
  }

  private async fetchUpstream(scratch: Repository, source: RepositorySource, signal: AbortSignal) {
    const { cloneUrl: url } = source;
    const { addresses, isListed } = await this.egress.checkedAddresses(url);
    const { repositoryBytes: maxBytes, repositoryMs: maxMs } = this.settings;
    const given = mayCloneHostReceiveCredential(source) ? splitGitCredentials(source) : null;
    const credentials = given === null ? {} : { credentials: given };
    const heads = source.heads ?? undefined;
    await fetchRemote(scratch, {
      url,
      addresses,
      mayUseHttp: isListed,
      maxBytes,
      maxMs,
      signal,
      heads,
      ...credentials,
    });
  }

  private async pushToProject(scratch: Repository, source: RepositorySource, signal: AbortSignal) {
    const [branches, tags, imports] = await Promise.all(
      ['refs/heads', 'refs/tags', 'refs/imports'].map((under) => listRefNames(scratch, { under, order: 'name' })),
    );
    const names = [...branches!, ...tags!].map(({ name }) => name);
    if (names.length > MAX_REFS) throw new ImportStageFailed('The repository has too many branches and tags.', true);
    // Merge requests whose head is left out are imported without a version. The newest ones are the last.
    const heads = listImportedMergeRequestRefs(imports!.map(({ name }) => name)).slice(
      -Math.max(1, MAX_REFS - names.length),
    );
    const { refs, failed } = splitImportableRefs(names, source.defaultBranch);
    const path = INTERNAL_PATHS.importRefs.replace(':project_id', String(source.projectId));
    await pushToInternalService(scratch, {
      url: this.platform.collaborationUrl.replace(/\/+$/, '') + path.slice(0, -REFS_SUFFIX.length),
      authorization: this.keys.signAuthorization('import', 'collaboration'),
      refs: [...refs, ...heads],
      // A pull request may have been rebased since an interrupted try.
      replaced: isImportedMergeRequestRef,
      maxMs: this.settings.repositoryMs,
      signal,
    });
    return failed;
  }
}

function splitGitCredentials({
  credentials,
}: RepositorySource): { readonly user: string; readonly password: string } | null {
  if (credentials === null) return null;
  const [user] = credentials.split(':', 1);
  return { user: user!, password: credentials.slice(user!.length + 1) };
}

/** Whether the address of the repository is one of the host that the user named, which alone gets the credential. */
function mayCloneHostReceiveCredential({ apiUrl, cloneUrl }: RepositorySource): boolean {
  if (apiUrl === null) return true;
  return new URL(cloneUrl).origin === webOriginOf(apiUrl);
}

/** Failures that another try would repeat. One that ran out of time would occupy a place of other imports again. */
const FINAL: ReadonlySet<string> = new Set(['too large', 'corrupt', 'invalid', 'timed out']);
/** More refs would make storing them take longer than an import may. */
const MAX_REFS = 20_000;

function toStageError(error: unknown): unknown {
  if (error instanceof EgressError) {
    return new ImportStageFailed(error.message, error.reason === 'address refused', { cause: error });
  }
  if (error instanceof GitBusy || !(error instanceof GitError)) return error;
  return new ImportStageFailed(error.message, FINAL.has(error.reason), { cause: error });
}
