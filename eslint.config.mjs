import jest from 'eslint-plugin-jest';
import tseslint from 'typescript-eslint';
import { boundaryRules } from './tools/checks/boundaries.mjs';

/** Allowed first words of a class of parameters: the verb of the method, or `Identify` for a resource that the path names. */
const PARAMETER_VERBS =
  'Identify|List|Show|Create|Update|Remove|Apply|Approve|Cancel|Check|CherryPick|Clone|Confirm|Estimate|Fork|Import|Merge|Move|Preview|Protect|Publish|Rebase|Reorder|Revert|Revoke|Rotate|Set|Spend|Star|Transfer|Upload';

/** Endings of the names of injected classes, by the layer of their file (docs/structure.md 3). */
const LAYERS = {
  service: 'Service',
  queries: 'Queries',
  repository: 'Repository',
  policy: 'Policy',
  controller: 'Controller',
  consumer: 'Consumer',
  job: 'Job',
  command: 'Command',
  module: 'Module',
};
const NEST_CLASS = 'ClassDeclaration:has(> Decorator[expression.callee.name=/^(Injectable|Controller|Module)$/])';
const USE_CASES = ['service', 'queries', 'controller'];
const EMPTY_VERBS = {
  selector: 'MethodDefinition[key.name=/^(get|handle|process)([A-Z]|$)/]',
  message: 'A method is named by what it does: list, show, create, update, remove, or the verb of the requirements.',
};

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      '.rookery/**',
      '.nx/**',
      'coverage/**',
      '**/*.generated.*',
      'apps/e2e/clients/bots/**',
    ],
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommended],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'separate-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-unsafe-function-type': 'off',
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    files: ['**/src/**/*.ts'],
    ignores: ['**/*.spec.ts', 'libs/platform/src/**', 'libs/testing/src/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message: 'Settings are read once, by libs/platform; declare a setting instead.',
        },
      ],
    },
  },
  {
    // Nest reads constructor parameter types at run time, so a class that is injected must be a value import.
    files: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    rules: { '@typescript-eslint/consistent-type-imports': 'off' },
  },
  {
    files: ['**/*.dto.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: `ExportNamedDeclaration > ClassDeclaration:not([id.name=/^(${PARAMETER_VERBS})[A-Z]/])`,
          message:
            'Parameters are named by the method and the noun: ListNotes, CreateNote, UpdateNote, or IdentifyNote where they only identify the resource. A verb that is missing is added to PARAMETER_VERBS in eslint.config.mjs.',
        },
        {
          selector: 'ClassDeclaration[id.name=/(Params|Parameters|Dto)$/]',
          message: 'Parameters have no suffix: CreateNote, not CreateNoteParams.',
        },
        {
          selector: 'PropertyDefinition[decorators.length=0]',
          message: 'A parameter without a field decorator never reaches the handler.',
        },
      ],
    },
  },
  ...Object.entries(LAYERS).map(([layer, ending]) => ({
    files: [`apps/*/src/**/*.${layer}.ts`],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: `${NEST_CLASS}[id.name!=/${ending}$/]`,
          message: `The name of an injected class in this file ends in ${ending}.`,
        },
        ...(USE_CASES.includes(layer) ? [EMPTY_VERBS] : []),
      ],
    },
  })),
  {
    files: ['**/*.{spec,db-spec,api-spec,contract-spec,e2e-spec}.ts'],
    plugins: { jest },
    rules: {
      'jest/no-focused-tests': 'error',
      'jest/no-disabled-tests': 'error',
      'jest/no-identical-title': 'error',
      'jest/valid-expect': 'error',
      'no-console': 'off',
    },
  },
  ...boundaryRules(),
);
