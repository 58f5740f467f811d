import { Injectable } from '@nestjs/common';
import { Jobs } from '@rookery/jobs';
import { RefUpdateEffects } from '../../../code/repositories/ref-updates/ref-update-effects';
import type {
  PreparedEffect,
  RefUpdateEffect,
  SettledUpdates,
} from '../../../code/repositories/ref-updates/ref-update-effects';
import { applyPushOptions } from './apply-push-options';
import { MergeRequestPushOptionsService } from './merge-request-push-options.service';
import { PushMergeRequestLinks } from './push-links';

/** Time after which a job applies options, unless the process of the push has done so. Units: milliseconds. */
const PATIENCE_MS = 120_000;
const FRAME = '='.repeat(72);

/**
 * Applies push options about merge requests after their push is settled, and shows links to merge requests. A job repeats
 * it after a crash. Source: reference repositories 1.5.
 */
@Injectable()
export class PushOptionsEffect implements RefUpdateEffect {
  constructor(
    effects: RefUpdateEffects,
    private readonly jobs: Jobs,
    private readonly requests: MergeRequestPushOptionsService,
    private readonly links: PushMergeRequestLinks,
  ) {
    effects.declare(this, 'last');
  }

  prepare(settled: SettledUpdates): Promise<PreparedEffect | null> {
    if (settled.source !== 'git' || settled.userId === null) return Promise.resolve(null);
    const { pushId: id } = settled;
    const options = settled.options.filter((option) => option.startsWith('merge_request.'));
    return Promise.resolve({
      write: async (tx) => {
        if (options.length === 0) return;
        await this.jobs.enqueue(tx, applyPushOptions, { push_id: id }, { at: new Date(Date.now() + PATIENCE_MS) });
      },
      finish: async () => {
        const refusals = options.length === 0 ? [] : await this.requests.applyOptions(id);
        const warnings = refusals.length === 0 ? [] : [renderPushOptionsWarning(options, refusals)];
        return [...warnings, ...(await this.links.renderTexts(settled))];
      },
    });
  }
}

function renderPushOptionsWarning(options: readonly string[], refusals: readonly string[]): string {
  const named = options.map((option) => `'${option}'`).join(' ');
  const text = `Error encountered with push options ${named}: ${refusals.join('\n\n')}`;
  // Control characters could change the terminal of the pusher.
  const shown = text.replaceAll(/[^\P{Cc}\n]/gu, ' ');
  return `\n${FRAME}\n\nWARNINGS:\n${shown}\n\n${FRAME}`;
}
