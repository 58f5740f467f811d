import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { countObjects, findLargeFiles, NO_OBJECT } from '@rookery/git';
import type { LargeFile, RefUpdate, Repository } from '@rookery/git';
import { InstanceSettings } from '@rookery/instance';
import type { PlanLimitName } from '@rookery/instance';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** Limit on the repository of a project, or on all below a top-level namespace. Units: bytes. */
interface StorageQuota {
  readonly kind: 'project' | 'namespace';
  readonly id: number;
  readonly limit: number;
}

const LIMITS = {
  namespace: 'namespace_repositories_size_limit',
  project: 'project_repository_size_limit',
} as const satisfies Readonly<Record<StorageQuota['kind'], PlanLimitName>>;
const MIB = 1024 ** 2;
const MAX_FILES_SHOWN = 10;
/** Files above this size get a warning where no limit refuses them. Units: bytes. */
const WARNED_BYTES = 100 * MIB;
/** Smallest pack that can add such a file: zlib saves at most 1031 of 1032 bytes. Units: bytes. */
const SMALLEST_WARNED_PACK = Math.floor(WARNED_BYTES / 1032);
/** Longest search for files to warn about. Units: milliseconds. */
const WARNING_MS = 5000;

/** Advisory lock of a quota. It has two keys, so that it cannot collide with advisory locks that have one. */
const lockQuota = statement<{ kind: string; id: number }, never>(
  'repository_storage_lock',
  `select pg_advisory_xact_lock(hashtext('repository storage ' || :kind), hashint8(:id::bigint))`,
);
/** Bytes of pushes to a project whose objects may not be part of the repository yet. */
const selectPendingBytes = statement<{ id: number }, { size: number }>(
  'repository_storage_pending',
  `select coalesce(sum(stored_bytes), 0)::bigint as size from pushes
   where project_id = :id::bigint and settled_at is null`,
);
/** Bytes of all other repositories below a top-level namespace, with their pushes that are not settled. */
const selectOtherRepositoriesBytes = statement<{ id: number; projectId: number }, { size: number }>(
  'repository_storage_of_namespace',
  `select coalesce(sum(r.size), 0)::bigint + coalesce(sum(pending.size), 0)::bigint as size
   from directory_namespaces home
   join directory_projects project on project.namespace_id = home.id
   join repositories r on r.project_id = project.id
   left join lateral (
     select sum(p.stored_bytes) as size from pushes p where p.project_id = r.project_id and p.settled_at is null
   ) pending on true
   where home.traversal_ids[1] = :id::bigint and r.project_id <> :projectId::bigint`,
);

/** Limits of plans on pushes and on commits through the API. Source: reference repositories 1.11. */
@Injectable()
export class PushLimits {
  constructor(private readonly instance: InstanceSettings) {}

  /** Largest pack of a push; null if only the limit of the service applies. Units: bytes. */
  maxPackBytes({ namespace }: ProjectScope): number | null {
    return this.instance.planLimit('repository_max_push_size', namespace.plan) || null;
  }

  /** Returns the refusal of updates that add too large files, or null. `view` includes the new objects. */
  async refusalOfFiles(
    view: Repository,
    { namespace }: ProjectScope,
    updates: readonly RefUpdate[],
    signal?: AbortSignal,
  ): Promise<string | null> {
    const aboveBytes = this.instance.planLimit('repository_max_file_size', namespace.plan);
    if (aboveBytes === 0) return null;
    const files = await findPushedLargeFiles(view, updates, aboveBytes, signal);
    return files.length === 0 ? null : composeLargeFilesRefusal(files, aboveBytes);
  }

  /** Whether the checks of a push may read all its objects, which may take long. */
  readsObjects({ namespace }: ProjectScope, { storedBytes }: { readonly storedBytes: number }): boolean {
    return (
      storedBytes >= SMALLEST_WARNED_PACK || this.instance.planLimit('repository_max_file_size', namespace.plan) > 0
    );
  }

  /**
   * Returns a warning about files that a push adds although they are large, or null. A search that fails or takes too
   * long gives no warning, so that it never refuses the push. `view` includes the new objects. Errors: the reason of
   * `signal`.
   */
  async warningOfFiles(
    view: Repository,
    { storedBytes, signal }: { readonly storedBytes: number; readonly signal: AbortSignal },
    updates: readonly RefUpdate[],
  ): Promise<string | null> {
    if (storedBytes < SMALLEST_WARNED_PACK) return null;
    const ended = AbortSignal.any([signal, AbortSignal.timeout(WARNING_MS)]);
    try {
      const files = await findPushedLargeFiles(view, updates, WARNED_BYTES, ended);
      return files.length === 0 ? null : composeLargeFilesWarning(files);
    } catch {
      signal.throwIfAborted();
      return null;
    }
  }

  hasQuota(project: ProjectScope): boolean {
    return this.listQuotas(project).length > 0;
  }

  /**
   * Returns the refusal of new objects that would exceed a quota, or null. Locks each quota until the end of the
   * transaction, which records the bytes, so that concurrent pushes together do not exceed it.
   */
  async refusalOfSize(
    tx: Tx,
    repository: Repository,
    { project, bytes }: { readonly project: ProjectScope; readonly bytes: number },
  ): Promise<string | null> {
    const quotas = this.listQuotas(project);
    for (const { kind, id } of quotas) await tx.run(lockQuota, { kind, id });
    // Reads pending pushes before the repository: a push that settles in between may count twice, but is never missed.
    const [pending] = await tx.run(selectPendingBytes, { id: project.id });
    const own = pending!.size + (await countObjects(repository)).bytes + bytes;
    for (const { kind, id, limit } of quotas) {
      const [others] =
        kind === 'project' ? [] : await tx.run(selectOtherRepositoriesBytes, { id, projectId: project.id });
      if (own + (others?.size ?? 0) > limit)
        return `This change would exceed the storage limit of the ${kind}, which is ${formatBytes(limit)} for repositories.`;
    }
    return null;
  }

  /** Returns the quotas of a project, always in the same order, so that the locks of concurrent pushes cannot deadlock. */
  private listQuotas({ id, namespace }: ProjectScope): readonly StorageQuota[] {
    const ids = { namespace: namespace.traversalIds[0]!, project: id };
    const all = (['namespace', 'project'] as const).map((kind) => ({
      ...{ kind, id: ids[kind], limit: this.instance.planLimit(LIMITS[kind], namespace.plan) },
    }));
    return all.filter(({ limit }) => limit > 0);
  }
}

async function findPushedLargeFiles(
  view: Repository,
  updates: readonly RefUpdate[],
  aboveBytes: number,
  signal: AbortSignal | undefined,
): Promise<readonly LargeFile[]> {
  const from = [...new Set(updates.map(({ newId }) => newId))].filter((id) => id !== NO_OBJECT);
  return from.length === 0 ? [] : findLargeFiles(view, { from, aboveBytes, max: MAX_FILES_SHOWN, signal });
}

function composeLargeFilesWarning(files: readonly LargeFile[]): string {
  return [
    `Rookery: Warning: This push adds files of more than ${formatBytes(WARNED_BYTES)}, which every clone will copy:`,
    '',
    ...formatFileLines(files),
  ].join('\n');
}

function formatFileLines(files: readonly LargeFile[]): string[] {
  return files.map(({ id, size }) => `- ${id} (${formatBytes(size)})`);
}

function composeLargeFilesRefusal(files: readonly LargeFile[], limit: number): string {
  return [
    `You are attempting to check in one or more blobs which exceed the ${formatBytes(limit)} limit:`,
    '',
    ...formatFileLines(files),
    '',
    'Please remove the files from your commits and try again.',
  ].join('\n');
}

function formatBytes(bytes: number): string {
  const [unit, name] = bytes < MIB ? [1024, 'KiB'] : [MIB, 'MiB'];
  return `${Number((bytes / unit).toFixed(2))}${name}`;
}
