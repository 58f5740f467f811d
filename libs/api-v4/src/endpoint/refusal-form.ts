import type { RenderedError } from '../answers/errors';
import { withReasonPhrase } from '../answers/errors';
import { acceptsProblemDetails, toProblemDetails } from '../answers/problem-details';
import { toGitClientError } from '../answers/text-errors';
import type { EndpointRecord } from './endpoint';

/**
 * Returns an answer to an error in the form that the clients of the endpoint read. Redirects and unmodified resources
 * stay as they are: they are no refusals, whose text clients show. `accept` is the header of the request.
 */
export function renderErrorForClient(
  { refusals, failsAs }: EndpointRecord['options'],
  rendered: RenderedError,
  accept: string | undefined,
): RenderedError {
  if (rendered.status < 400) return rendered;
  const refusal = refusals?.renderedAs?.(rendered) ?? rendered;
  const shown = failsAs === undefined ? refusal : toGitClientError(refusal, failsAs);
  const phrased = refusals?.hasReasonPhrase ? withReasonPhrase(shown) : shown;
  return refusals?.offersProblemDetails && acceptsProblemDetails(accept) ? toProblemDetails(phrased) : phrased;
}
