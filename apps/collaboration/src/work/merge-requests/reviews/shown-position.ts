import type { RequestedPosition, RequestedRange } from '../../../talk/notes/positions/code-reviews';
import type { PositionFields } from '../../../talk/notes/positions/position-rows';

/** Commits of a diff. */
export interface DiffShas {
  readonly baseSha: string;
  readonly startSha: string;
  readonly headSha: string;
}

/** The position as the API shows it: with the fields of its type, and with the paths that were sent. */
export function toShownPosition(sent: RequestedPosition): PositionFields {
  const common = {
    ...{ base_sha: sent.baseSha, start_sha: sent.startSha, head_sha: sent.headSha },
    ...{ old_path: sent.oldPath, new_path: sent.newPath, position_type: sent.type },
  };
  if (sent.type === 'file') return common;
  const { width, height, x, y } = sent;
  if (sent.type === 'image') return { ...common, width, height, x, y };
  return { ...common, old_line: sent.oldLine, new_line: sent.newLine, line_range: sent.lineRange };
}

/** Moves a position to other commits; `place` has the paths and lines that changed. */
export function movePositionToDiff(
  position: PositionFields,
  { baseSha, startSha, headSha }: DiffShas,
  place: Partial<PositionFields> = {},
): PositionFields {
  return { ...position, base_sha: baseSha, start_sha: startSha, head_sha: headSha, ...place };
}

/** Range of a stored position. */
export function readLineRange({ line_range }: PositionFields): RequestedRange | null {
  return (line_range as RequestedRange | null | undefined) ?? null;
}
