import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { InstanceSettings } from '@rookery/instance';
import type { PlanLimitName } from '@rookery/instance';
import { Forbidden } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { SqlReader, Tx } from '@rookery/persistence';

type StoredSizeRow = { readonly size: number };

const OF_PROJECT = statement<{ id: number }, StoredSizeRow>(
  'package_storage_of_project',
  `select coalesce(sum(f.size), 0)::bigint as size from package_files f
   where f.project_id = :id::bigint and not f.is_pending_destruction`,
);
const OF_NAMESPACE = statement<{ id: number }, StoredSizeRow>(
  'package_storage_of_namespace',
  `select coalesce(sum(f.size), 0)::bigint as size from directory_namespaces home
   join directory_projects project on project.namespace_id = home.id
   join package_files f on f.project_id = project.id and not f.is_pending_destruction
   where home.traversal_ids[1] = :id::bigint`,
);
/** Two keys, so that quotas meet no lock of another kind. */
const LOCK = statement<{ kind: string; id: number }, never>(
  'package_storage_lock',
  `select pg_advisory_xact_lock(hashtext('package storage ' || :kind), hashint8(:id::bigint))`,
);

/** A limit on the files of a project or of all projects below a top-level namespace. */
interface Quota {
  readonly kind: 'project' | 'namespace';
  readonly id: number;
  /** Units: bytes. */
  readonly limit: number;
}

const LIMITS = {
  project: 'project_packages_size_limit',
  namespace: 'namespace_packages_size_limit',
} as const satisfies Readonly<Record<Quota['kind'], PlanLimitName>>;

/** Storage that packages may use, by the plan of the project. Source: reference packages-and-admin 4.1. */
@Injectable()
export class StorageQuota {
  constructor(
    private readonly instance: InstanceSettings,
    private readonly database: Database,
  ) {}

  /** Refuses an upload before its body is read. Units: bytes. Errors: Forbidden beyond a limit. */
  async admitUpload(project: ProjectScope, size: number): Promise<void> {
    for (const quota of this.listQuotas(project)) await refuseBeyondQuota(this.database, quota, size);
  }

  /**
   * Refuses a file that is about to be added. Uploads under a limit are added one after the other, so that together they
   * do not exceed it. Units: bytes. Errors: Forbidden beyond a limit.
   */
  async enforceQuota(tx: Tx, project: ProjectScope, size: number): Promise<void> {
    for (const quota of this.listQuotas(project)) {
      await tx.run(LOCK, { kind: quota.kind, id: quota.id });
      await refuseBeyondQuota(tx, quota, size);
    }
  }

  /** Always in the same order, so that uploads do not wait for each other in a circle. */
  private listQuotas({ id, namespace }: ProjectScope): readonly Quota[] {
    const ids = { namespace: namespace.traversalIds[0]!, project: id };
    const all = (['namespace', 'project'] as const).map((kind) => ({
      ...{ kind, id: ids[kind], limit: this.instance.planLimit(LIMITS[kind], namespace.plan) },
    }));
    return all.filter(({ limit }) => limit > 0);
  }
}

async function refuseBeyondQuota(reads: SqlReader, { kind, id, limit }: Quota, addedBytes: number): Promise<void> {
  const [row] = await reads.run(kind === 'project' ? OF_PROJECT : OF_NAMESPACE, { id });
  if (row!.size + addedBytes > limit) throw new Forbidden(`Package storage of the ${kind} is full.`);
}
