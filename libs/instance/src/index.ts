export { APPLICATION_BOUNDS, applicationSettings } from './application.settings';
export type { ApplicationSettings } from './application.settings';
export { actorOf, FEATURE_DEFINITIONS, FEATURE_GROUPS, FEATURES, isOnFor } from './features';
export type { ActorKind, Asked, FeatureDefinition, FeatureName } from './features';
export { Instance } from './instance';
export { instanceEntities } from './instance.entities';
export { instanceMigrations } from './instance.migrations';
export { InstanceModule } from './instance.module';
