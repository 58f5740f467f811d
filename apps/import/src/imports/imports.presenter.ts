import { alwaysNull, choice, instant, int, list, mapOf, nullable, object, presenter, text } from '@rookery/api-v4';
import { IMPORT_STATES, IMPORT_TYPES, IMPORTED_KINDS } from '@rookery/contracts';
import type { FailureRow } from './import-records';
import { ATTACHMENTS } from './import-stages';
import type { StageRow } from './import-stages';
import type { ImportStatus, ImportView } from './imports.service';

const state = choice('none', ...IMPORT_STATES);

/** A pending import has no project yet, so it is never shown. */
const shownState = ({ row }: ImportView) => row.state as (typeof IMPORT_STATES)[number];

/** Source: reference identity-and-import 6.2. */
export const importedProject = presenter<ImportView>('ImportedProject').fields({
  id: [int, ({ project }) => project.id],
  name: [text, ({ project }) => project.name],
  full_path: [text, ({ project }) => `/${project.full_path}`],
  full_name: [text, ({ project }) => project.name_with_namespace],
  refs_url: [text, ({ project }) => `/${project.full_path}/refs`, { about: 'Path of the list of branches and tags.' }],
  import_source: [text, ({ row }) => row.upstream_name, { about: 'Owner and name of the upstream repository.' }],
  import_status: [state, shownState],
  human_import_status_name: [state, shownState],
  provider_link: [
    text,
    ({ row }) => row.upstream_url ?? `/${row.upstream_name}`,
    { about: 'Web page of the upstream repository, or its path if the page is unknown.' },
  ],
  relation_type: [alwaysNull, () => null, { about: 'For imports of files, which do not exist.' }],
  import_warning: [alwaysNull, () => null, { about: 'Imports have no warnings.' }],
  import_error: [text, ({ row }) => row.error!, { when: ({ row }) => row.error !== null }],
});

const failure = object({
  id: int,
  created_at: instant,
  exception_class: text,
  exception_message: text,
  source: text,
  relation_name: text,
  line_number: alwaysNull,
});

function toShownFailure({ id, created_at, message, object_name: name, relation_name }: FailureRow) {
  const text = `${name}: ${message}`;
  const named = { exception_class: 'ImportFailure', exception_message: text, source: 'import', relation_name };
  return { id, created_at: created_at.toISOString(), ...named, line_number: null };
}

function objectCountsByImportStage(
  stages: readonly StageRow[],
  column: 'fetched' | 'imported',
): Record<string, number> {
  const countOf = (kind: string): number => stages.find(({ name }) => name === kind)?.[column] ?? 0;
  const isShown = (kind: string): boolean => kind !== ATTACHMENTS || stages.some(({ name }) => name === ATTACHMENTS);
  return Object.fromEntries([...IMPORTED_KINDS, ATTACHMENTS].filter(isShown).map((kind) => [kind, countOf(kind)]));
}

/** Source: reference identity-and-import 6.2. */
export const importStatus = presenter<ImportStatus>('ProjectImport').fields({
  id: [int, ({ project }) => project.id],
  description: [nullable(text), ({ project }) => project.description],
  name: [text, ({ project }) => project.name],
  name_with_namespace: [text, ({ project }) => project.nameWithNamespace],
  path: [text, ({ project }) => project.path],
  path_with_namespace: [text, ({ project }) => project.fullPath],
  created_at: [instant, ({ project }) => new Date(project.createdAt)],
  import_status: [state, ({ row }) => (row === null ? 'none' : shownState({ row } as ImportView))],
  import_type: [nullable(choice(...IMPORT_TYPES)), ({ row }) => row?.source ?? null],
  correlation_id: [nullable(text), ({ row }) => row?.import_key ?? null, { about: 'Identifies the import in logs.' }],
  failed_relations: [
    list(failure),
    ({ failures }) => failures.map(toShownFailure),
    { about: 'Objects that could not be imported, at most 100; for reporters and higher roles.' },
  ],
  import_error: [nullable(text), ({ error }) => error, { about: 'For reporters and higher roles.' }],
  stats: [
    mapOf(mapOf(int)),
    ({ stages }) => ({
      fetched: objectCountsByImportStage(stages!, 'fetched'),
      imported: objectCountsByImportStage(stages!, 'imported'),
    }),
    {
      when: ({ row, stages }) => row?.source === 'remote' && stages !== null,
      about:
        'Numbers of objects by kind: `fetched` those that the host has sent, `imported` those in the project; `attachment` are files that texts link to. For reporters and higher roles.',
    },
  ],
});
