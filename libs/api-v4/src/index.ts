export * from './answers/answers';
export * from './call/call';
export { streamedBody } from './call/streamed-body';
export type { DigestName, StreamedBody, StreamedBodyOption } from './call/streamed-body';
export * from './endpoint/endpoint';
export * from './answers/field-types';
export * from './params/field-typing';
export type * from './params/fields';
export {
  AnyValue,
  AtLeastOneOf,
  Day,
  ExactlyOneOf,
  AtMostOneOf,
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
  fieldCombinationRulesOf,
  Upload,
} from './params/fields';
export * from './params/plain-fields';
export * from './answers/json-text';
export * from './answers/keyset';
export { admitsJobTokensOf } from './call/job-admission';
export * from './call/permission';
export * from './answers/presenter';
export * from './call/scope';
export { ApiV4Module } from './api-v4.module';
export type { ApiV4Options } from './endpoint/runtime';
export {
  MalformedBody,
  renderError,
  UploadAborted,
  UnknownRoute,
  UnsupportedMediaType,
  WrongVerb,
} from './answers/errors';
export type { RenderedError } from './answers/errors';
export { toGitClientError } from './answers/text-errors';
export { BEFORE_REPLAY, WRITE_HEADERS } from './endpoint/runtime';
export type { BeforeReplay, WriteHeaders } from './endpoint/runtime';
export { isBlankSudo, isSudoSpelling, findSudoValues } from './params/unread-sudo';
export { EndpointRoutes } from './endpoint/endpoint-routes';
export {
  areAmbiguous,
  compareTailSpecificity,
  FIXED_SEGMENTS,
  decodeRouteSegment,
  matchesTail,
  splitPath,
  wildcardIndex,
  wildcardProblems,
  wildcardTail,
} from './endpoint/wildcard';
export type { WildcardTail } from './endpoint/wildcard';
export { templatesOf } from './endpoint/route-template';
export { statusesOf } from './endpoint/statuses';
export { openApiDocument, writeOpenApi } from './openapi/openapi';
export type { OpenApiOptions } from './openapi/openapi';
export { InternalRoute, StreamedInternalRoute } from './endpoint/internal';
export type { InternalRequest, InternalStream, InternalUpload } from './endpoint/internal';
export { apiV4Server, createApiV4App } from './server';
export { CALLER_SOURCE } from './limits/caller-checks';
export type { CallerSource } from './limits/caller-checks';
export { FairSemaphore } from './limits/fair-places';
export type { LimitedCaller, SemaphoreLimits } from './limits/fair-places';
