import { AtLeastOneOf, Int, OneOf } from '@rookery/api-v4';
import { PLAN_LIMITS } from '@rookery/instance';
import type { ExactInput } from '@rookery/kernel';
import { LIMITED_PLANS } from './plan-limit.entity';
import type { LimitedPlan, PlanLimits } from './plan-limit.entity';

const FLAGS = PLAN_LIMITS.project_feature_flags;
const NPM = PLAN_LIMITS.npm_max_file_size;
const CONAN = PLAN_LIMITS.conan_max_file_size;
const GENERIC = PLAN_LIMITS.generic_packages_max_file_size;
const HELM = PLAN_LIMITS.helm_max_file_size;
const MAVEN = PLAN_LIMITS.maven_max_file_size;
const NUGET = PLAN_LIMITS.nuget_max_file_size;
const PYPI = PLAN_LIMITS.pypi_max_file_size;
const TERRAFORM = PLAN_LIMITS.terraform_module_max_file_size;
const REPOSITORY_FILE = PLAN_LIMITS.repository_max_file_size;
const PUSH = PLAN_LIMITS.repository_max_push_size;
const STORAGE = PLAN_LIMITS.project_packages_size_limit;

export class ShowPlanLimits {
  @OneOf(LIMITED_PLANS, { default: 'default', about: '`default` applies to plans without limits of their own.' })
  plan_name: LimitedPlan;
}

/** Source: reference packages-and-admin 10.5. */
@AtLeastOneOf(
  'conan_max_file_size',
  'generic_packages_max_file_size',
  'helm_max_file_size',
  'maven_max_file_size',
  'namespace_packages_size_limit',
  'namespace_repositories_size_limit',
  'npm_max_file_size',
  'nuget_max_file_size',
  'project_packages_size_limit',
  'project_repository_size_limit',
  'pypi_max_file_size',
  'repository_max_file_size',
  'repository_max_push_size',
  'terraform_module_max_file_size',
  'project_feature_flags',
)
export class UpdatePlanLimits implements ExactInput<Partial<PlanLimits>, UpdatePlanLimits, 'plan_name'> {
  @OneOf(LIMITED_PLANS) plan_name: LimitedPlan;
  @Int({ min: CONAN.min, max: CONAN.max, optional: true, about: 'Largest Conan file, in bytes; 0 means no limit.' })
  conan_max_file_size?: number;
  @Int({
    min: GENERIC.min,
    max: GENERIC.max,
    optional: true,
    about: 'Largest file of a generic package, in bytes; 0 means no limit.',
  })
  generic_packages_max_file_size?: number;
  @Int({ min: HELM.min, max: HELM.max, optional: true, about: 'Largest Helm chart, in bytes; 0 means no limit.' })
  helm_max_file_size?: number;
  @Int({
    min: MAVEN.min,
    max: MAVEN.max,
    optional: true,
    about: 'Largest file of a Maven package, in bytes; 0 means no limit.',
  })
  maven_max_file_size?: number;
  @Int({
    min: PYPI.min,
    max: PYPI.max,
    optional: true,
    about: 'Largest file of a PyPI package, in bytes; 0 means no limit.',
  })
  pypi_max_file_size?: number;
  @Int({
    min: NPM.min,
    max: NPM.max,
    optional: true,
    about: 'Largest tarball of an npm package, in bytes; 0 means no limit.',
  })
  npm_max_file_size?: number;
  @Int({
    min: NUGET.min,
    max: NUGET.max,
    optional: true,
    about: 'Largest file of a NuGet package, in bytes; 0 means no limit.',
  })
  nuget_max_file_size?: number;
  @Int({
    min: TERRAFORM.min,
    max: TERRAFORM.max,
    optional: true,
    about: 'Largest Terraform module, in bytes; 0 means no limit.',
  })
  terraform_module_max_file_size?: number;
  @Int({
    min: STORAGE.min,
    max: STORAGE.max,
    optional: true,
    about: 'Storage of the packages below a top-level group or user, in bytes; 0 means no limit.',
  })
  namespace_packages_size_limit?: number;
  @Int({
    min: STORAGE.min,
    max: STORAGE.max,
    optional: true,
    about: 'Storage of the packages of a project, in bytes; 0 means no limit.',
  })
  project_packages_size_limit?: number;
  @Int({
    min: STORAGE.min,
    max: STORAGE.max,
    optional: true,
    about: 'Storage of the repositories below a top-level group or user, in bytes; 0 means no limit.',
  })
  namespace_repositories_size_limit?: number;
  @Int({
    min: STORAGE.min,
    max: STORAGE.max,
    optional: true,
    about: 'Storage of the repository of a project, in bytes; 0 means no limit.',
  })
  project_repository_size_limit?: number;
  @Int({
    min: REPOSITORY_FILE.min,
    max: REPOSITORY_FILE.max,
    optional: true,
    about: 'Largest file that commits may add to a repository, in bytes; 0 means no limit.',
  })
  repository_max_file_size?: number;
  @Int({
    min: PUSH.min,
    max: PUSH.max,
    optional: true,
    about: 'Largest pack of a push, in bytes; 0 means that the limit of the service applies.',
  })
  repository_max_push_size?: number;
  @Int({ min: FLAGS.min, max: FLAGS.max, optional: true, about: 'Maximum number of feature flags of a project.' })
  project_feature_flags?: number;
}
