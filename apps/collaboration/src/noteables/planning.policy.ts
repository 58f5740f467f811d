import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { readerOf, reads } from '../noteables/reader';

/** Where labels are kept. */
export type LabelSource = ProjectScope | GroupScope;

/** Who may do what with labels. Source: reference work-tracking 9.4. */
export const labelPolicy = {
  /** Whoever sees the place; in a project, whoever reads something there that could have a label. */
  mayRead(viewer: Viewer, source: LabelSource): boolean {
    if (source.kind === 'group') return true;
    const reader = readerOf(viewer, source);
    return reads('issues', source, reader) || reads('merge_requests', source, reader);
  },

  mayManage(viewer: SignedInViewer, source: LabelSource): boolean {
    const isWritable = source.kind === 'group' || (!source.archived && labelPolicy.mayRead(viewer, source));
    return isWritable && (viewer.isAdmin || source.level >= ACCESS_LEVELS.planner);
  },
};
