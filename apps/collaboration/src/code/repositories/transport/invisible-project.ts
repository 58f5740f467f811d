import { isSignedIn, NotFound, Unauthorized } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';

/**
 * Returns the refusal for a project that the caller cannot see. Anonymous callers are asked for a credential, so that
 * they learn nothing about hidden projects. Source: reference repositories 1.3.
 */
export function createInvisibleProjectError(viewer: Viewer): Unauthorized | NotFound {
  if (!isSignedIn(viewer)) return new Unauthorized();
  const text = "The project you were looking for could not be found or you don't have permission to view it.";
  return new NotFound(text, { verbatim: true });
}
