export * from './answers';
export * from './call';
export * from './endpoint';
export * from './field-types';
export * from './field-typing';
export type * from './fields';
export {
  AnyValue,
  AtLeastOneOf,
  Day,
  ExactlyOneOf,
  Exclusive,
  fieldsOf,
  Flag,
  Float,
  Hash,
  HashOf,
  IdOrPath,
  Instant,
  Int,
  ListOf,
  ListOfHashes,
  OneOf,
  Search,
  Text,
  togetherRulesOf,
  Upload,
} from './fields';
export * from './plain-fields';
export * from './json-text';
export * from './keyset';
export * from './permission';
export * from './presenter';
export * from './scope';
export { ApiV4Module } from './api-v4.module';
export type { ApiV4Options } from './runtime';
export { MalformedBody, renderError, UnknownRoute, UnsupportedMediaType, WrongVerb } from './errors';
export type { RenderedError } from './errors';
export { BEFORE_REPLAY, WRITE_HEADERS } from './runtime';
export type { BeforeReplay, WriteHeaders } from './runtime';
export { isBlankSudo, isLikeSudo, sudosIn } from './unread-sudo';
export { EndpointRoutes } from './endpoint-routes';
export { templatesOf } from './route-template';
export { statusesOf } from './statuses';
export { openApiDocument, writeOpenApi } from './openapi';
export type { OpenApiOptions } from './openapi';
export { Internal } from './internal';
export type { InternalRequest } from './internal';
export { apiV4Server, createApiV4App } from './server';
export { CALLER_SOURCE } from './caller-checks';
export type { CallerSource } from './caller-checks';
export { FairPlaces } from './fair-places';
export type { Asking, Places } from './fair-places';
