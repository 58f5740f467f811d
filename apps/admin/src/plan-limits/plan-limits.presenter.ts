import { int, presenter } from '@rookery/api-v4';
import type { PlanLimits } from './plan-limit.entity';

/** Source: reference packages-and-admin 10.5. */
export const planLimitsPresenter = presenter<PlanLimits>('PlanLimits').fields({
  conan_max_file_size: [int, (limits) => limits.conan_max_file_size, { about: 'In bytes; 0 means no limit.' }],
  generic_packages_max_file_size: [
    int,
    (limits) => limits.generic_packages_max_file_size,
    { about: 'In bytes; 0 means no limit.' },
  ],
  helm_max_file_size: [int, (limits) => limits.helm_max_file_size, { about: 'In bytes; 0 means no limit.' }],
  maven_max_file_size: [int, (limits) => limits.maven_max_file_size, { about: 'In bytes; 0 means no limit.' }],
  npm_max_file_size: [int, (limits) => limits.npm_max_file_size, { about: 'In bytes; 0 means no limit.' }],
  nuget_max_file_size: [int, (limits) => limits.nuget_max_file_size, { about: 'In bytes; 0 means no limit.' }],
  pypi_max_file_size: [int, (limits) => limits.pypi_max_file_size, { about: 'In bytes; 0 means no limit.' }],
  terraform_module_max_file_size: [
    int,
    (limits) => limits.terraform_module_max_file_size,
    { about: 'In bytes; 0 means no limit.' },
  ],
  namespace_packages_size_limit: [
    int,
    (limits) => limits.namespace_packages_size_limit,
    { about: 'In bytes; 0 means no limit.' },
  ],
  project_packages_size_limit: [
    int,
    (limits) => limits.project_packages_size_limit,
    { about: 'In bytes; 0 means no limit.' },
  ],
  namespace_repositories_size_limit: [
    int,
    (limits) => limits.namespace_repositories_size_limit,
    { about: 'In bytes; 0 means no limit.' },
  ],
  project_repository_size_limit: [
    int,
    (limits) => limits.project_repository_size_limit,
    { about: 'In bytes; 0 means no limit.' },
  ],
  repository_max_file_size: [
    int,
    (limits) => limits.repository_max_file_size,
    { about: 'In bytes; 0 means no limit.' },
  ],
  repository_max_push_size: [
    int,
    (limits) => limits.repository_max_push_size,
    { about: 'In bytes; 0 means that the limit of the service applies.' },
  ],
  project_feature_flags: [int, (limits) => limits.project_feature_flags],
});
