#!/usr/bin/env node
/**
 * Checks the document of the whole API with a linter, whose recommended rules are errors except for those below. Every field
 * and parameter needs a description, unless `plain-names.txt` lists its name. Answers may contain documented fields only;
 * otherwise test suites could not validate them.
 * Prints the problems with their places, and exits with 1.
 *
 * @typedef {Record<string, any>} Schema
 * @typedef {{ paths: Record<string, Record<string, any>>, components: { schemas: Schema, responses: Schema } }} Document
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const PLAIN_NAMES = fileURLToPath(new URL('plain-names.txt', import.meta.url));
const FILE = fileURLToPath(new URL('../../apps/gateway/openapi.json', import.meta.url));

/**
 * Changes to the recommended rules, each with its reason.
 * @type {Record<string, 'off' | 'error'>}
 */
const RULES = {
  // Clients depend on the paths: there are both `/projects/user/:user_id` and `/projects/:id/star`.
  'no-ambiguous-paths': 'off',
  // Health checks of the gateway have no 4xx.
  'operation-4xx-response': 'off',
  // Permanent addresses only redirect.
  'operation-2xx-response': 'off',
  // Further rules.
  'operation-operationId-url-safe': 'error',
  'operation-singular-tag': 'error',
  'operation-description': 'off',
  'parameter-description': 'off',
  'path-params-defined': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-schema-examples': 'error',
  'no-enum-type-mismatch': 'error',
  'no-required-schema-properties-undefined': 'error',
  'no-duplicated-tag-names': 'error',
};

/** @param {string} source */
export async function lintOpenApiDocument(source, name = 'openapi.json') {
  const config = await createConfig({ extends: ['recommended-strict'], rules: RULES });
  const problems = await lintFromString({ source, absoluteRef: name, config });
  return problems.map(({ ruleId, message, location }) => `${location[0]?.pointer ?? '#'} ${message} (${ruleId})`);
}

/**
 * Names of fields and parameters without a description, sorted. A reference to another schema, and a list of values, count
 * as a description.
 * @param {unknown} document
 */
export function undescribedOpenApiNames(document) {
  /** @param {Schema} schema */
  const isDescribed = (schema) => ['description', '$ref', 'enum', 'const'].some((key) => key in schema);
  /** @type {Set<string>} */
  const names = new Set();
  /** @param {any} value */
  const visit = (value) => {
    if (value === null || typeof value !== 'object') return;
    /** @type {Record<string, Schema>} */
    const fields = value.type === 'object' || Array.isArray(value.required) ? (value.properties ?? {}) : {};
    for (const [name, schema] of Object.entries(fields)) if (!isDescribed(schema)) names.add(name);
    if (typeof value.in === 'string' && !isDescribed(value) && !isDescribed(value.schema)) names.add(value.name);
    for (const part of Object.values(value)) visit(part);
  };
  visit(document);
  return [...names].sort();
}

/** Answers that may contain undocumented fields, each with its reason. */
const OPEN = {
  // Documents: this check reads one itself, and a test validates the other by its official schema.
  'getOpenApiDocument 200': true,
  'getAsyncApiDocument 200': true,
  // Manifests of packages hold whatever their authors wrote.
  'getNpmPackage 200': true,
  'getNpmPackageOfGroup 200': true,
  'getNpmPackageOfInstance 200': true,
  'getComposerPackage 200.packages.*.*.*': true,
  // Files in several formats, which the reference and CycloneDX define.
  'downloadDependencyListExport 200': true,
  'downloadDependencyListExport 206': true,
  // A part of a file.
  'downloadGoFile 206': true,
};

/**
 * Places where answers may contain any value: no type, an object without named fields, a list without a schema of its
 * items. Maps with a schema of their values and empty lists are allowed.
 * @param {Document} document
 */
export function findOpenAnswerSchemas({ paths, components }) {
  /** @type {string[]} */
  const found = [];
  /** @type {(schema: any, at: string) => void} */
  const visit = (schema, at) => {
    if (typeof schema !== 'object' || schema === null) return void found.push(at);
    const types = [schema.type ?? []].flat();
    const several = ['anyOf', 'oneOf', 'allOf'].filter((word) => word in schema);
    if (types.length + several.length === 0 && !['$ref', 'enum', 'const'].some((word) => word in schema))
      found.push(at);
    const { properties, items, additionalProperties } = schema;
    if (properties !== undefined && !types.includes('object')) found.push(at);
    if (types.includes('object') && additionalProperties !== undefined && additionalProperties !== false) {
      visit(additionalProperties, `${at}.*`);
    } else if (types.includes('object') && properties === undefined) found.push(at);
    if (types.includes('array') && schema.maxItems !== 0) visit(items, `${at}[]`);
    for (const [name, field] of Object.entries(properties ?? {})) visit(field, `${at}.${name}`);
    for (const word of several) schema[word].forEach((/** @type {unknown} */ one) => visit(one, at));
  };
  /** @type {(response: any, at: string) => void} */
  const visitBody = (response, at) => {
    const body = response.content?.['application/json'];
    if (body) visit(body.schema, at);
  };
  for (const [name, schema] of Object.entries(components.schemas)) visit(schema, name);
  for (const [name, response] of Object.entries(components.responses)) visitBody(response, name);
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const [status, response] of Object.entries(operation.responses)) {
      visitBody(response, `${operation.operationId} ${status}`);
    }
  }
  return found;
}

/** @param {Document} document */
export function problemsOfOpenSchemas(document) {
  return findOpenAnswerSchemas(document)
    .filter((at) => !Object.hasOwn(OPEN, at))
    .map((at) => `${at}: an answer may contain any value there`);
}

/**
 * Names without a description that `allowedNames` does not list, and needless entries of `allowedNames`.
 * @param {unknown} document
 * @param {string[]} allowedNames
 */
export function missingDescriptionProblems(document, allowedNames) {
  const found = undescribedOpenApiNames(document);
  return [
    ...found.filter((name) => !allowedNames.includes(name)).map((name) => `${name}: has no description (about)`),
    ...allowedNames
      .filter((name) => !found.includes(name))
      .map((name) => `${name}: is in plain-names.txt, but has a description`),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const source = readFileSync(FILE, 'utf8');
  const plain = readFileSync(PLAIN_NAMES, 'utf8').split('\n').filter(Boolean);
  const document = JSON.parse(source);
  const problems = [
    ...(await lintOpenApiDocument(source, FILE)),
    ...missingDescriptionProblems(document, plain),
    ...problemsOfOpenSchemas(document),
  ];
  for (const problem of problems) process.stdout.write(`apps/gateway/openapi.json ${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}
