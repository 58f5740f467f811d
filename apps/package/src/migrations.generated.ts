// Written by `npm run gen` from the names of the files in migrations/; do not edit.
export * from './migrations/1767225600000-create-protection-rules';
export * from './migrations/1767225600001-create-packages';
export * from './migrations/1767225600010-create-npm';
export * from './migrations/1767225600020-create-pypi-files';
export * from './migrations/1767225600030-create-maven';
export * from './migrations/1767225600040-create-pipeline-triggers';
export * from './migrations/1767225600041-create-pipelines';
export * from './migrations/1767225600042-create-ci-jobs';
export * from './migrations/1767225600050-create-package-settings';
export * from './migrations/1767225600051-note-unanswered-uploads';
export * from './migrations/1767225600052-index-listed-packages';
export * from './migrations/1767225600060-create-dependency-exports';
export * from './migrations/1767225600080-create-uploads';
export * from './migrations/1767225600180-start-pipelines-by-push';
export * from './migrations/1767225600200-keep-outcomes-of-pipelines';
export * from './migrations/1767225600400-create-helm-files';
export * from './migrations/1767225600401-create-nuget-versions';
