import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ImportProjectAnswer, ImportTargetAnswer } from '@rookery/contracts';
import type { SettingsOf } from '@rookery/platform';
import { importSettings } from '../../import.config';
import type { UpstreamKind } from '../../sources/upstream-hosts';
import type { UpstreamProject } from '../../sources/upstream-project';
import { IdentityImportsClient } from '../identity-imports.client';
import { ImportCredentials } from '../import-credentials';
import { ImportRecords } from '../import-records';
import type { ImportView } from '../imports.service';

/** The user of an import, and the namespace of its project. */
export interface ImportPlace {
  readonly user_id: number;
  readonly namespace: string;
}

/** Choices of a user about an import. */
export interface ImportOptions {
  readonly new_name?: string | undefined;
  readonly timeout_strategy?: 'optimistic' | 'pessimistic' | undefined;
}

/** Data that an import needs to start. `apiUrl` and `credential` have the form of `UpstreamAccess`. */
export interface ImportPlan {
  readonly source: UpstreamKind;
  readonly place: ImportPlace;
  readonly upstream: UpstreamProject;
  readonly apiUrl: string;
  readonly credential: string;
  readonly pageSize: number;
  readonly singleEndpointNotes: boolean;
  /** Whether files that texts link to are stored in the project. */
  readonly withAttachments: boolean;
}

/** Reason why no import starts. */
export type ImportProblem =
  | Exclude<ImportProjectAnswer, { readonly outcome: 'created' }>
  | { readonly outcome: 'late' };

/** Longest description that a project may have. Units: characters. */
const MAX_DESCRIPTION = 2000;
/** Longest name of a branch that git can store as a file. Units: characters. */
const MAX_BRANCH = 255;
/** A `new_name` is also the path of the project. Source: requirements 2 §4 Imports. */
const MISPLACED_SPECIAL_CHARACTER = /^[._-]|[._-]$|[._-]{2}/;
const INVALID_NEW_NAME =
  'Path must not start or end with a special character and must not contain consecutive special characters';

/** Creates projects for imports, and schedules the imports. Source: reference identity-and-import 6.2. */
@Injectable()
export class ImportStarter {
  constructor(
    private readonly records: ImportRecords,
    private readonly identity: IdentityImportsClient,
    private readonly credentials: ImportCredentials,
    @Inject(importSettings.token) private readonly settings: SettingsOf<typeof importSettings>,
  ) {}

  isEnabled(source: UpstreamKind): boolean {
    return this.settings.sources.includes(source);
  }

  /** Returns whether the user may import into the namespace. Errors: Unavailable. */
  async findTarget(place: ImportPlace): Promise<ImportTargetAnswer['outcome']> {
    return (await this.identity.findTarget(place)).outcome;
  }

  /** Errors: Unavailable. */
  async startImport(
    plan: ImportPlan,
    { new_name: name, ...options }: ImportOptions,
  ): Promise<ImportView | ImportProblem> {
    const { source, place } = plan;
    if (name && MISPLACED_SPECIAL_CHARACTER.test(name)) return { outcome: 'invalid', problems: [INVALID_NEW_NAME] };
    const upstream = limitFieldLengths(plan.upstream);
    const importKey = randomUUID();
    const id = await this.records.addImport({
      ...{ importKey, userId: place.user_id, source, cloneUrl: upstream.cloneUrl, apiUrl: plan.apiUrl },
      ...{ upstreamName: upstream.fullName, upstreamUrl: upstream.webUrl, defaultBranch: upstream.defaultBranch },
      ...{ pageSize: plan.pageSize, isOptimistic: options.timeout_strategy === 'optimistic' },
      ...{ singleEndpointNotes: plan.singleEndpointNotes, withAttachments: plan.withAttachments },
      sealedCredential: this.credentials.seal(importKey, plan.credential),
    });
    const answer = await this.identity.createProject({
      ...place,
      ...{ import_key: importKey, import_type: source, import_url: upstream.cloneUrl },
      ...{ name: name || upstream.name, description: upstream.description, is_private: upstream.isPrivate },
      default_branch: upstream.defaultBranch,
    });
    if (answer.outcome !== 'created') {
      await this.records.dropImport(id);
      return answer;
    }
    const row = await this.records.scheduleImport(id, answer.project.id);
    return row ? { project: answer.project, row } : { outcome: 'late' };
  }
}

/** The host may send fields of any length. */
function limitFieldLengths(upstream: UpstreamProject): UpstreamProject {
  const { description, defaultBranch } = upstream;
  return {
    ...upstream,
    // The cut may leave the first half of a surrogate pair.
    description: description?.slice(0, MAX_DESCRIPTION).replace(/\p{Cs}$/u, '') ?? null,
    defaultBranch: defaultBranch !== null && defaultBranch.length <= MAX_BRANCH ? defaultBranch : null,
  };
}
