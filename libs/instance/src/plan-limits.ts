import type { InstanceAnswer } from '@rookery/contracts';
import type { PLANS } from '@rookery/kernel';

export type Plan = (typeof PLANS)[number];

const GIB = 1024 ** 3;
/** 0 means no limit. Units: bytes. */
const planFileSizeLimit = (bytes: number) => ({ default: bytes, min: 0, max: 100 * GIB });
/** 0 means no limit. Units: bytes. */
const STORAGE = { default: 0, min: 0, max: 1024 ** 2 * GIB } as const;

/** Limits of plans that Rookery enforces, by their names in the API. Source: reference packages-and-admin 10.5. */
export const PLAN_LIMITS = {
  /** Largest file of a Conan package. */
  conan_max_file_size: planFileSizeLimit(3 * GIB),
  /** Largest file of a generic package. */
  generic_packages_max_file_size: planFileSizeLimit(5 * GIB),
  /** Largest chart of a Helm package. */
  helm_max_file_size: planFileSizeLimit(5 * 1024 ** 2),
  /** Largest file of a Maven package. */
  maven_max_file_size: planFileSizeLimit(3 * GIB),
  /** Storage that the packages of all projects below a top-level group or user may use. */
  namespace_packages_size_limit: STORAGE,
  /** Storage that the repositories of all projects below a top-level group or user may use. */
  namespace_repositories_size_limit: STORAGE,
  /** Largest tarball of an npm package. */
  npm_max_file_size: planFileSizeLimit(500 * 1024 ** 2),
  /** Largest file of a NuGet package. */
  nuget_max_file_size: planFileSizeLimit(500 * 1024 ** 2),
  /** Storage that the packages of a project may use. */
  project_packages_size_limit: STORAGE,
  /** Storage that the repository of a project may use. */
  project_repository_size_limit: STORAGE,
  /** Largest file of a PyPI package. */
  pypi_max_file_size: planFileSizeLimit(3 * GIB),
  /** Largest file that commits may add to a repository. */
  repository_max_file_size: planFileSizeLimit(0),
  /** Largest pack of a push; 0 leaves the limit of the service, `REPOSITORY_PUSH_BYTES`. */
  repository_max_push_size: planFileSizeLimit(0),
  /** Largest Terraform module. */
  terraform_module_max_file_size: planFileSizeLimit(GIB),
  /** Maximum number of feature flags of a project. Bounded because its clients repeatedly fetch all of them. */
  project_feature_flags: { default: 200, min: 1, max: 1000 },
} as const;
export type PlanLimitName = keyof typeof PLAN_LIMITS;

/** Limits that administrators have set, by plan and name. `default` applies to plans without a limit of their own. */
export type SetPlanLimits = NonNullable<InstanceAnswer['plan_limits']>;

/** Returns the limit of the plan itself, else that of `default`, else the built-in one. */
export function findPlanLimit(set: SetPlanLimits, plan: Plan | 'default', name: PlanLimitName): number {
  return set[plan]?.[name] ?? set['default']?.[name] ?? PLAN_LIMITS[name].default;
}
