// Written by `npm run gen` from the names of the files in migrations/; do not edit.
export * from './migrations/1767225600000-create-broadcast-messages';
export * from './migrations/1767225600100-create-feature-flags';
export * from './migrations/1767225600200-create-instance-features';
export * from './migrations/1767225600300-create-application-settings';
export * from './migrations/1767225600400-name-unlimited-people-by-id';
export * from './migrations/1767225600500-create-licenses';
export * from './migrations/1767225600600-create-plan-limits';
export * from './migrations/1767225600700-create-geo-sites';
export * from './migrations/1767225600800-widen-plan-limits';
