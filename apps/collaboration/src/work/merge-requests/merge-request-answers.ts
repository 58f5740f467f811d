import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { countCommits } from '@rookery/git';
import { requireNoteableReader } from '../../base/noteables/reader';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { renderDescriptionHtml, renderTitleHtml } from '../../base/noteables/description-html';
import { mergeRequestKind } from './merge-request.kind';
import { MergeRequestsQueries } from './merge-requests.queries';
import { Mergeability } from './merging/mergeability';
import { MergeRequestBranches } from './versions/branches';

const MAX_DIVERGED = 10_000;

/** Shows single merge requests after the merge check, so that clients need not poll. Source: reference repositories 8.2. */
@Injectable()
export class MergeRequestAnswers {
  constructor(
    private readonly queries: MergeRequestsQueries,
    private readonly mergeability: Mergeability,
    private readonly branches: MergeRequestBranches,
  ) {}

  /** Shows a merge request on its own route, as JSON text. Errors: NotFound, Forbidden. */
  async show(
    viewer: Viewer,
    project: ProjectScope,
    iid: number,
    wanted: { readonly diverged: boolean; readonly rebasing: boolean; readonly html: boolean },
  ): Promise<string> {
    requireNoteableReader(viewer, { kind: mergeRequestKind, parent: project });
    await this.mergeability.refresh(project, iid);
    const diverged = wanted.diverged ? await this.countDivergedCommits(project, iid) : null;
    // A rebase ends within its request, so none is ever in progress.
    const computed = { diverged, rebasing: wanted.rebasing ? false : null };
    const shown = await this.queries.findMergeRequest(viewer, project, iid, computed);
    return wanted.html ? addRenderedTexts(shown) : shown;
  }

  /** Shows a merge request after a write, or together with its diff, as JSON text. */
  async showWritten(viewer: Viewer, project: ProjectScope, iid: number): Promise<string> {
    await this.mergeability.refresh(project, iid);
    return this.queries.answer(viewer, project, iid);
  }

  /** Counts the commits of the target that the source lacks, up to 10,000. */
  private async countDivergedCommits(project: ProjectScope, iid: number): Promise<number> {
    return this.branches.useRepository(project, async (repository) => {
      const tips = await this.branches.findTips(repository, project, iid);
      if (!tips) throw new NotFound();
      const { source, target } = tips;
      if (source === null || target === null) return 0;
      return countCommits(repository, { from: [target], notFrom: [source], max: MAX_DIVERGED });
    });
  }
}

/** Adds the title and the description as HTML to the JSON text of a merge request. */
function addRenderedTexts(shown: string): string {
  const { title, description } = JSON.parse(shown) as { readonly title: string; readonly description: string | null };
  const html = {
    title_html: renderTitleHtml(title),
    description_html: renderDescriptionHtml(description),
  };
  return `${shown.slice(0, -1)},${JSON.stringify(html).slice(1)}`;
}
